// The constant objects of a fresh server as bytes that were made when the server was built: to make a hundred and seventy objects, to work out
// who owns their fields and to encode them takes longer than any other step of a first start. What a start fills in is uids and times.
//
// What loops make of them at once is there already: the rules of roles that collect, and the accounts of namespaces.
//
// They are good for what they were made from alone: the vocabulary, the gates, the kinds that are served, the loops that run, and a store that has
// none of them. In every other case they are made as they were made for the build, and at later starts what is there is put into order.

import type { Catalog, Resource } from '../../api/catalog.js'
import type { FeatureGates } from '../../api/definition.js'
import { featureGates } from '../../api/feature-gates.js'
import { timeOf } from '../../schema/scalars.js'
import type { Engine } from '../../verbs/engine.js'

export interface Prepared {
  readonly bytes: Buffer
  /** The names of the loops that the server runs. */
  readonly loops: readonly string[]
}

/** A line of JSON in front of the bytes of all entries. */
export interface Contents {
  readonly conditions: string
  readonly kinds: readonly PreparedKind[]
  /** In the order in which they are written. */
  readonly objects: readonly PreparedObject[]
}

interface PreparedKind {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** `range`: where its entry begins and ends; `uidAt` and `timesAt`: where among the bytes of all of them those are filled in. */
export interface PreparedObject {
  /** Which of the kinds. */
  readonly kind: number
  readonly namespace: string
  readonly name: string
  readonly range: readonly [start: number, end: number]
  readonly uidAt: number
  readonly timesAt: readonly number[]
}

const lineEnd = 0x0a

/** What prepared objects are good for: all that the server has and does not have that could change them. `loops`: the names of those that run. */
export const conditionsOf = (catalog: Catalog, gates: FeatureGates, loops: readonly string[]): string =>
  [
    catalog.identity.name,
    ...loops,
    ...[...featureGates.keys()].filter(gates),
    ...catalog.all().map(({ apiVersion, name, storedApiVersion }) => `${apiVersion} ${name} ${storedApiVersion}`),
  ].join('\n')

/** Puts them into a store that has nothing of their kinds. False: they are not good here, or somebody else was quicker with some of them. */
export async function placePrepared(engine: Engine, catalog: Catalog, { bytes: prepared, loops }: Prepared): Promise<boolean> {
  const start = prepared.indexOf(lineEnd) + 1
  const { conditions, kinds, objects } = JSON.parse(prepared.toString('utf8', 0, start)) as Contents
  if (conditions !== conditionsOf(catalog, engine.gates, loops)) return false
  const resources = kinds.map(({ group, version, resource }) => servedAs(catalog, group, version, resource))
  if (resources.some((resource) => engine.store.count(resource, '') > 0)) return false
  // The store keeps parts of it.
  const bytes = Buffer.from(prepared.subarray(start))
  const time = timeOf(engine.clock.now())
  const puts = objects.map(({ kind, namespace, name, range, uidAt, timesAt }) => {
    bytes.write(engine.newUid(), uidAt, 'latin1')
    for (const place of timesAt) bytes.write(time, place, 'latin1')
    const address = { resource: resources[kind] as Resource, namespace, name }
    return engine.store.put(address, bytes.subarray(...range), { expect: 0 })
  })
  return (await Promise.all(puts)).every(({ ok }) => ok)
}

function servedAs(catalog: Catalog, group: string, version: string, name: string): Resource {
  const resource = catalog.find(group, version, name)
  if (resource === undefined) throw new Error(`${name} of ${group} ${version} were prepared and are not served`)
  return resource
}
