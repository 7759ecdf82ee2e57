// Topology hints of slices: every ready endpoint is assigned to a zone, in proportion to the CPUs of the zones.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { Node } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { Endpoint, EndpointSlice } from '@cluster-apiserver/api/resources/discovery/v1.schema.js'
import { parseQuantity, quantityMilliValue } from '@cluster-apiserver/api/schema/quantity.js'
import type { SliceChanges } from './slice-plan.js'

/** Maximum overload of the endpoints of a zone, as a fraction of an even load. */
export const overloadThreshold = 0.2

/** Share of the CPUs by zone, in the order of the zones. */
export type ZoneRatios = ReadonlyMap<string, number>

export const wantsHints = (identity: Identity, annotations: { readonly [name: string]: string } | undefined): boolean => {
  const value = annotations?.[identity.label('topology-aware-hints', 'service')]
  return value === 'auto' || value === 'Auto'
}

/** CPUs of a node for the distribution; undefined if the node does not count. */
export function zoneCpuOf(identity: Identity, { metadata, status }: Node): { readonly zone: string; readonly milli: number } | undefined {
  const { labels = {} } = metadata ?? {}
  if (['control-plane', 'master'].some((role) => labels[identity.label(role, 'node-role')] !== undefined)) return undefined
  if (status?.conditions?.find(({ type }) => type === 'Ready')?.status !== 'True') return undefined
  const cpu = status.allocatable?.['cpu']
  return {
    zone: labels[identity.label('zone', 'topology')] ?? '',
    milli: cpu === undefined ? 0 : Number(quantityMilliValue(parseQuantity(cpu))),
  }
}

/** Undefined if the nodes have fewer than two zones, or if a counted node has no zone or no CPUs. */
export function zoneRatiosOf(identity: Identity, nodes: Iterable<Node>): ZoneRatios | undefined {
  const cpus = new Map<string, number>()
  let total = 0
  for (const node of nodes) {
    const counted = zoneCpuOf(identity, node)
    if (counted === undefined) continue
    if (counted.zone === '' || counted.milli === 0) return undefined
    cpus.set(counted.zone, (cpus.get(counted.zone) ?? 0) + counted.milli)
    total += counted.milli
  }
  if (cpus.size < 2) return undefined
  return new Map([...cpus].sort(([a], [b]) => compareText(a, b)).map(([zone, milli]) => [zone, milli / total]))
}

interface Allocation {
  readonly minimum: number
  readonly maximum: number
  readonly desired: number
}

type Allocations = ReadonlyMap<string, Allocation>

/** A text if hints are impossible. */
function allocate(ratios: ZoneRatios | undefined, endpoints: number): Allocations | string {
  if (ratios === undefined) return 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes'
  const counts = `(${endpoints} endpoints, ${ratios.size} zones)`
  if (ratios.size > endpoints) return `Insufficient number of endpoints ${counts}`
  const shares = Array.from(ratios, ([zone, ratio]) => {
    const desired = ratio * endpoints
    const minimum = Math.ceil(desired / (1 + overloadThreshold))
    return { zone, minimum, desired: Math.max(desired, minimum) }
  })
  const spare = endpoints - shares.reduce((sum, { minimum }) => sum + minimum, 0)
  if (spare < 0) return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counts}`
  return new Map(shares.map(({ zone, minimum, desired }) => [zone, { minimum, desired, maximum: minimum + spare }]))
}

const isReady = ({ conditions }: Endpoint): boolean => conditions?.ready !== false

const hintOf = (zone: string) => ({ forZones: [{ name: zone }] })

const withoutHints = ({ hints: _, ...endpoint }: Endpoint): Endpoint => endpoint

export function removeHints(changes: SliceChanges): SliceChanges {
  const strip = (slice: EndpointSlice): EndpointSlice => ({ ...slice, endpoints: (slice.endpoints ?? []).map(withoutHints) })
  const hasHints = ({ endpoints = [] }: EndpointSlice): boolean => endpoints.some(({ hints }) => hints !== undefined)
  return {
    ...changes,
    create: changes.create.map(strip),
    update: [...changes.update, ...changes.unchanged.filter(hasHints)].map(strip),
    unchanged: changes.unchanged.filter((slice) => !hasHints(slice)),
  }
}

interface Hinted {
  readonly changes: SliceChanges
  /** Hints by zone, or why there are none. */
  readonly hints: ReadonlyMap<string, number> | string
}

/** Sets the hints of the slices that change. Slices whose hints are wrong change, too. Removes all hints if they cannot be set. */
export function addHints(changes: SliceChanges, ratios: ZoneRatios | undefined): Hinted {
  const all = [...changes.create, ...changes.update, ...changes.unchanged]
  const total = all.reduce((sum, { endpoints = [] }) => sum + endpoints.filter(isReady).length, 0)
  const withoutAny = (why: string): Hinted => ({ changes: removeHints(changes), hints: why })
  const allocations = allocate(ratios, total)
  if (typeof allocations === 'string') return withoutAny(allocations)
  const assigned = new Map<string, number>()
  const unchanged: EndpointSlice[] = []
  const update = [...changes.update]
  for (const slice of changes.unchanged) {
    const counts = validHints(slice, assigned, allocations)
    if (counts === undefined) update.push(slice)
    else {
      unchanged.push(slice)
      for (const [zone, count] of counts) add(assigned, zone, count)
    }
  }
  const changing = [...changes.create, ...update]
  for (const { endpoints = [] } of changing) {
    for (const endpoint of endpoints.filter(isReady)) {
      const { zone } = endpoint
      if (zone === undefined || zone === '') return withoutAny('One or more endpoints do not have a zone specified')
      add(assigned, zone, 1)
    }
  }
  const moves = transfers(allocations, assigned)
  const hinted = changing.map((slice) => ({ ...slice, endpoints: (slice.endpoints ?? []).map((endpoint) => hint(endpoint, moves)) }))
  const hints = new Map<string, number>()
  for (const { endpoints = [] } of [...unchanged, ...hinted])
    for (const endpoint of endpoints.filter(isReady)) add(hints, endpoint.hints?.forZones?.[0]?.name ?? '', 1)
  const [create, updated] = [hinted.slice(0, changes.create.length), hinted.slice(changes.create.length)]
  return { changes: { ...changes, unchanged, create, update: updated }, hints }
}

const add = (counts: Map<string, number>, zone: string, count: number): void => void counts.set(zone, (counts.get(zone) ?? 0) + count)

/** Hints of an unchanged slice by zone; undefined if one is missing, of an unknown zone, or too many. */
function validHints(
  { endpoints = [] }: EndpointSlice,
  assigned: ReadonlyMap<string, number>,
  allocations: Allocations,
): ReadonlyMap<string, number> | undefined {
  const counts = new Map<string, number>()
  for (const { hints } of endpoints.filter(isReady)) {
    const zone = hints?.forZones?.[0]?.name
    if (zone === undefined) return undefined
    add(counts, zone, 1)
  }
  for (const [zone, count] of counts) {
    const allocation = allocations.get(zone)
    if (allocation === undefined || count + (assigned.get(zone) ?? 0) > allocation.maximum) return undefined
  }
  return counts
}

interface Transfers {
  readonly giving: Map<string, number>
  readonly receiving: Map<string, number>
}

/** Number of endpoints that zones give to zones with too few. */
function transfers(allocations: Allocations, assigned: ReadonlyMap<string, number>): Transfers {
  const surplus = new Map<string, number>()
  const need = new Map<string, number>()
  for (const [zone, { desired }] of allocations) {
    const difference = (assigned.get(zone) ?? 0) - desired
    if (difference > 0) surplus.set(zone, difference)
    else if (difference < 0) need.set(zone, -difference)
  }
  const moves: Transfers = { giving: new Map(), receiving: new Map() }
  for (;;) {
    const [from, given] = largest(surplus)
    const [to, received] = largest(need)
    if (given < 0.5 || received < 0.5 || (given < 1 && received < 1)) return moves
    add(moves.giving, from, 1)
    add(moves.receiving, to, 1)
    add(surplus, from, -1)
    add(need, to, -1)
  }
}

function largest(counts: ReadonlyMap<string, number>): readonly [zone: string, count: number] {
  let found: readonly [string, number] = ['', 0]
  for (const entry of counts) if (entry[1] > found[1]) found = entry
  return found
}

function hint(endpoint: Endpoint, { giving, receiving }: Transfers): Endpoint {
  const { zone = '' } = endpoint
  if (!isReady(endpoint)) return withoutHints(endpoint)
  const [to] = [...receiving].find(([, count]) => count > 0) ?? []
  if ((giving.get(zone) ?? 0) === 0 || to === undefined) return { ...endpoint, hints: hintOf(zone) }
  add(giving, zone, -1)
  add(receiving, to, -1)
  return { ...endpoint, hints: hintOf(to) }
}
