// Reads all objects as administrator while nothing is written: each must be where a tenant wrote it, with the mark of that tenant only.

import type { ApiClient } from '../kit/api-client.js'
import { expectStatus } from '../kit/fixtures.js'
import type { JsonObject } from '../kit/network/json-object.js'
import type { Checks } from './check.js'
import { differenceFrom } from './kinds.js'
import type { Lane } from './lane.js'
import { foreignMarks } from './marks.js'
import type { Tenant } from './tenant.js'

interface StoreCheckParts {
  readonly admin: ApiClient
  readonly tenants: readonly Tenant[]
  readonly system: Tenant
  readonly lanes: readonly Lane[]
  readonly checks: Checks
  /** Keys that existed before the first request of a tenant. */
  readonly before: ReadonlySet<string>
}

interface Stored {
  readonly resource: string
  readonly object: JsonObject
}

const keyOf = ({ resource, object: { metadata } }: Stored): string => `${resource}/${metadata.namespace ?? ''}/${metadata.name}`

export async function storedKeys(admin: ApiClient, checks: Checks): Promise<ReadonlySet<string>> {
  const keys = new Set<string>()
  for await (const stored of everyObject(admin, checks)) keys.add(keyOf(stored))
  return keys
}

/** Compares the store with the models of the lanes; returns the number of objects. */
export async function checkStore({ admin, tenants, system, lanes, checks, before }: StoreCheckParts): Promise<number> {
  let objects = 0
  const present = new Set<string>()
  for await (const stored of everyObject(admin, checks)) {
    objects += 1
    const { resource, object } = stored
    const key = keyOf(stored)
    present.add(key)
    const owner = ownerOf(stored, tenants, system)
    const [foreign] = foreignMarks(Buffer.from(JSON.stringify(object)), owner.mark)
    if (foreign !== undefined) checks.addFinding('foreign write', `${key} has the mark ${foreign.text} at ${foreign.offset}`)
    const lane = lanes.find(({ tenant, model }) => tenant === owner && model.find(resource, object.metadata.name) !== undefined)
    if (lane !== undefined) checkObject(lane, stored, checks)
    else if (!before.has(key) && !isMadeByServer(stored) && !isBudget(stored, lanes))
      checks.addFinding('foreign write', `${key} was not written by any lane`)
  }
  for (const { tenant, model } of lanes) {
    for (const { kind, name, possible } of model.all) {
      const key = `${kind.resource}/${tenant.namespace}/${name}`
      if (!possible.includes(undefined) && !present.has(key))
        checks.addFinding('lost write', `${key} of ${possible.map((each) => each?.id).join(' or ')} is not there`)
    }
  }
  return objects
}

function checkObject({ tenant, model }: Lane, stored: Stored, checks: Checks): void {
  const { resource, object } = stored
  const key = model.find(resource, object.metadata.name)
  if (key === undefined) return
  const differences = key.possible.map((version) => (version === undefined ? 'deleted' : differenceFrom(key.kind, tenant, object, version)))
  if (!differences.includes(undefined)) checks.addFinding('lost write', `${keyOf(stored)}: ${differences.join('; ')}`)
}

function ownerOf({ object: { metadata } }: Stored, tenants: readonly Tenant[], system: Tenant): Tenant {
  const isOf = ({ namespace, char }: Tenant): boolean =>
    metadata.namespace === namespace ||
    (metadata.namespace === undefined && (metadata.name === namespace || metadata.name.startsWith(`class-${char}-`)))
  return tenants.find(isOf) ?? system
}

/** Created by controllers in every namespace, or used by the server itself. */
const isMadeByServer = ({ resource, object: { metadata } }: Stored): boolean =>
  resource === 'leases' ||
  resource === 'events' ||
  (resource === 'serviceaccounts' && metadata.name === 'default') ||
  metadata.name === 'cluster-root-ca.crt'

/** Budgets of lanes that evict are not part of the model. */
const isBudget = ({ resource, object: { metadata } }: Stored, lanes: readonly Lane[]): boolean =>
  resource === 'poddisruptionbudgets' &&
  lanes.some(({ tenant, model }) => tenant.namespace === metadata.namespace && model.lane === metadata.name)

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[]
}

/** Kinds that cannot be listed are findings. */
async function* everyObject(admin: ApiClient, checks: Checks): AsyncGenerator<Stored> {
  const groups = expectStatus(await admin.get('/apis'), 200).json as unknown as {
    readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[]
  }
  for (const base of ['/api/v1', ...groups.groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)]) {
    const { resources } = expectStatus(await admin.get(base), 200).json as unknown as ResourceList
    for (const { name, verbs } of resources) {
      if (!verbs.includes('list') || name.includes('/')) continue
      for (let token = ''; ; ) {
        const page = await admin.get(`${base}/${name}?limit=20${token === '' ? '' : `&continue=${token}`}`)
        if (page.status !== 200) {
          checks.addFinding('unexplained error', `an administrator cannot list ${name}: ${page.text.slice(0, 300)}`)
          break
        }
        const { json } = page
        for (const object of json.items) yield { resource: name, object }
        token = json.metadata.continue ?? ''
        if (token === '') break
      }
    }
  }
}
