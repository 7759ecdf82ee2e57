// Requests by which one user once got another user's Secrets: large dry-run Roles, YAML reads and system Secrets, all in worker threads.

import { systemSecrets } from './intrusions.js'
import { configMapKind, type Kind, secretKind } from './kinds.js'
import type { Lane } from './lane.js'
import { encode, json, yaml } from './representations.js'
import { rbacGroup } from './setup.js'

const rulesPerRole = 400
/** The server treats the object as large because of its many commas. */
const largeBytes = 50_000

/** A Role that grants what the tenant may do already, in many rules; nothing is stored. */
export async function tryLargeRole(lane: Lane): Promise<void> {
  const { mark, namespace } = lane.tenant
  const id = lane.ids.next()
  const rules = Array.from({ length: rulesPerRole }, (_, i) => ({
    apiGroups: [''],
    resources: ['configmaps'],
    verbs: ['get'],
    resourceNames: [`${mark}-${i}`],
  }))
  await lane.client.call({
    verb: 'create dry run',
    method: 'POST',
    path: `/apis/${rbacGroup}/v1/namespaces/${namespace}/roles?dryRun=All`,
    body: encode({ metadata: { name: `${lane.model.lane}-role`, annotations: { id, mark } }, rules }, 'JSON'),
    contains: [id, mark],
    expect: [201],
  })
}

export async function readLarge(lane: Lane, kind: Kind = lane.random.pick([configMapKind, configMapKind, secretKind])): Promise<void> {
  const key = lane.pickKey(kind) ?? (await makeLarge(lane, kind))
  const [version] = key?.possible ?? []
  if (key === undefined || version === undefined) return
  await lane.client.call({ verb: 'get', method: 'GET', path: lane.pathOf(key), as: yaml, contains: [version.id, key.name], expect: [200] })
}

async function makeLarge(lane: Lane, kind: Kind) {
  await lane.deleteUncertain(kind)
  const key = lane.model.newKey(kind)
  const id = lane.ids.next()
  const version = { id, payloadId: id, payloadBytes: largeBytes }
  const body = encode(lane.object(key, version, 'v1'), 'JSON')
  lane.settle(
    key,
    version,
    await lane.client.call({ verb: 'create', method: 'POST', path: lane.collection(kind), body, contains: [id], expect: [201] }),
  )
  return lane.model.present(kind).find((each) => each === key)
}

export async function makeSystemSecrets(lane: Lane): Promise<void> {
  for (const name of systemSecrets) {
    const id = lane.ids.next()
    const version = { id, payloadId: id, payloadBytes: name === 'small' ? 500 : largeBytes }
    const body = encode(lane.object({ kind: secretKind, name, possible: [] }, version, 'v1'), 'JSON')
    await lane.client.call({
      verb: 'create',
      method: 'POST',
      path: lane.collection(secretKind),
      body,
      contains: [id],
      expect: [201],
      isUndisturbed: true,
    })
  }
}

export async function useSystemSecret(lane: Lane): Promise<void> {
  const name = lane.random.pick(systemSecrets)
  const path = `${lane.collection(secretKind)}/${name}`
  if (lane.random.below(3) > 0) {
    await lane.client.call({ verb: 'get', method: 'GET', path, as: yaml, contains: [name, lane.tenant.mark], expect: [200] })
    return
  }
  const id = lane.ids.next()
  const body = encode({ metadata: { annotations: { last: id } } }, 'JSON')
  const contentType = 'application/merge-patch+json'
  await lane.client.call({ verb: 'merge patch', method: 'PATCH', path, body, contentType, as: json, contains: [id, name], expect: [200] })
}
