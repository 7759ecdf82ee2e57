// The constant objects of a fresh server as bytes that were made when the server was built: to make a hundred and seventy objects, to work out
// who owns their fields and to encode them takes longer than any other step of a first start. What a start fills in is uids and times.
//
// What loops make of them at once is there already: the rules of roles that collect, and the accounts of namespaces.
//
// They are good for what they were made from alone: the vocabulary, the gates, the kinds that are served and the loops that run. In
// every other case they are made as they were made for the build. At later starts what is stored as it was prepared is in order, and what is not
// is looked at one by one.

import type { Catalog, Resource } from '../../api/catalog.js'
import type { FeatureGates } from '../../api/definition.js'
import { featureGates } from '../../api/feature-gates.js'
import type { ObjectAddress } from '../../objects/object-store.js'
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
    // Of custom kinds there is nothing in them.
    ...catalog
      .all()
      .flatMap(({ definition, apiVersion, name, storedApiVersion }) =>
        definition.custom === undefined ? [`${apiVersion} ${name} ${storedApiVersion}`] : [],
      ),
  ].join('\n')

/** The same, with what they are of. */
export interface ReadyObjects {
  readonly bytes: Buffer
  readonly objects: readonly (PreparedObject & ObjectAddress)[]
  readonly resources: readonly Resource[]
}

/** Undefined where they are not good: then they are made, and put into order, one by one. */
export function readPrepared(engine: Engine, catalog: Catalog, { bytes, loops }: Prepared): ReadyObjects | undefined {
  const start = bytes.indexOf(lineEnd) + 1
  const { conditions, kinds, objects } = JSON.parse(bytes.toString('utf8', 0, start)) as Contents
  if (conditions !== conditionsOf(catalog, engine.gates, loops)) return undefined
  const resources = kinds.map(({ group, version, resource }) => servedAs(catalog, group, version, resource))
  return {
    bytes: bytes.subarray(start),
    objects: objects.map((object) => ({ ...object, resource: resources[object.kind] as Resource })),
    resources,
  }
}

function servedAs(catalog: Catalog, group: string, version: string, name: string): Resource {
  const resource = catalog.find(group, version, name)
  if (resource === undefined) throw new Error(`${name} of ${group} ${version} were prepared and are not served`)
  return resource
}

/** Puts them into a store that has nothing of their kinds. False: it has, or somebody else was quicker with some of them. */
export async function placePrepared(engine: Engine, { bytes: prepared, objects, resources }: ReadyObjects): Promise<boolean> {
  if (resources.some((resource) => engine.store.count(resource, '') > 0)) return false
  // The store keeps parts of it.
  const bytes = Buffer.from(prepared)
  const time = timeOf(engine.clock.now())
  const puts = objects.map(({ resource, namespace, name, range, uidAt, timesAt }) => {
    bytes.write(engine.newUid(), uidAt, 'latin1')
    for (const place of timesAt) bytes.write(time, place, 'latin1')
    return engine.store.put({ resource, namespace, name }, bytes.subarray(...range), { expect: 0 })
  })
  return (await Promise.all(puts)).every(({ ok }) => ok)
}

/** The names of those that are stored as they were prepared, but for uids and times: in a store that is used, nothing is to be done about them. */
export function namesInOrder(engine: Engine, { bytes, objects }: ReadyObjects): ReadonlySet<string> {
  const names = new Set<string>()
  for (const object of objects) {
    const { resource, namespace, name } = object
    const stored = engine.store.read({ resource, namespace, name })
    if (stored !== undefined && isAsPrepared(stored.entry.value, bytes, object)) names.add(nameOf(resource.name, namespace, name))
  }
  return names
}

export const nameOf = (resource: string, namespace: string, name: string): string => `${resource} ${namespace}/${name}`

const [uidLength, timeLength] = [36, 20] as const

function isAsPrepared(value: Buffer, prepared: Buffer, { range: [start, end], uidAt, timesAt }: PreparedObject): boolean {
  if (value.length !== end - start) return false
  const isSame = (from: number, to: number): boolean => value.compare(prepared, from, to, from - start, to - start) === 0
  let at: number = start
  for (const [place, length] of [[uidAt, uidLength] as const, ...timesAt.map((each) => [each, timeLength] as const)].sort(
    (a, b) => a[0] - b[0],
  )) {
    if (!isSame(at, place)) return false
    at = place + length
  }
  return isSame(at, end)
}
