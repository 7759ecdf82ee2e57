// The constant objects of a fresh server as bytes that were made when the server was built: to make a hundred and seventy objects, to work out
// who owns their fields and to encode them takes longer than any other step of a first start. What a start fills in is uids and times.
//
// They are good for what they were made from alone: the vocabulary, the gates, the kinds that are served, and a store that has none of them. In
// every other case they are made as they were made for the build, and at later starts what is there is put into order.

import type { Catalog, Resource } from '../../api/catalog.js'
import type { FeatureGates } from '../../api/definition.js'
import { featureGates } from '../../api/feature-gates.js'
import { partsOf } from '../../objects/keys.js'
import { everything } from '../../objects/selection.js'
import { timeOf } from '../../schema/scalars.js'
import type { Engine } from '../../verbs/engine.js'
import { constantObjects } from './constants.js'
import { namespacesOf } from './own-objects.js'
import { createMissing, placeAll } from './place.js'

/** A line of JSON in front of the bytes of all entries. */
interface Contents {
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
interface PreparedObject {
  /** Which of the kinds. */
  readonly kind: number
  readonly namespace: string
  readonly name: string
  readonly range: readonly [start: number, end: number]
  readonly uidAt: number
  readonly timesAt: readonly number[]
}

const lineEnd = 0x0a

/** What prepared objects are good for: all that the server has and does not have that could change them. */
export const conditionsOf = (catalog: Catalog, gates: FeatureGates): string =>
  [
    catalog.identity.name,
    ...[...featureGates.keys()].filter(gates),
    ...catalog.all().map(({ apiVersion, name, storedApiVersion }) => `${apiVersion} ${name} ${storedApiVersion}`),
  ].join('\n')

/** Puts them into a store that has nothing of their kinds. False: they are not good here, or somebody else was quicker with some of them. */
export async function placePrepared(engine: Engine, catalog: Catalog, prepared: Buffer): Promise<boolean> {
  const start = prepared.indexOf(lineEnd) + 1
  const { conditions, kinds, objects } = JSON.parse(prepared.toString('utf8', 0, start)) as Contents
  if (conditions !== conditionsOf(catalog, engine.gates)) return false
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

/** Makes them as a start without them does, with an engine on an empty store; what is the time of its clock there will be the time of a start. */
export async function prepare(engine: Engine, catalog: Catalog): Promise<Buffer> {
  const now = engine.clock.now()
  await createMissing(engine, catalog, namespacesOf(engine.identity))
  await placeAll(engine, catalog, constantObjects(catalog, engine.gates, now))
  const kinds = catalog.collections().filter((resource) => engine.store.count(resource, '') > 0)
  const stored = kinds
    .flatMap((resource, kind) =>
      [...engine.store.list({ resource, namespace: '', selection: everything, limit: 0 }).objects()].map((object) => ({
        resource,
        kind,
        object,
      })),
    )
    .toSorted((a, b) => a.object.revision - b.object.revision)
  let end = 0
  const objects = stored.map(({ resource, kind, object }): PreparedObject => {
    const { value } = object.entry
    const start = end
    end += value.length
    const [uidAt = 0, ...others] = placesOf(value, object.decode(resource).metadata?.uid ?? '')
    if (others.length > 0) throw new Error(`${object.key} says its uid twice`)
    const timesAt = placesOf(value, timeOf(now)).map((place) => start + place)
    return { kind, ...partsOf(resource, object.key), range: [start, end], uidAt: start + uidAt, timesAt }
  })
  const contents: Contents = {
    conditions: conditionsOf(catalog, engine.gates),
    kinds: kinds.map(({ group, version, name }) => ({ group, version, resource: name })),
    objects,
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(contents)}\n`), ...stored.map(({ object }) => object.entry.value)])
}

function placesOf(bytes: Buffer, text: string): readonly number[] {
  const places: number[] = []
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) places.push(at)
  return places
}
