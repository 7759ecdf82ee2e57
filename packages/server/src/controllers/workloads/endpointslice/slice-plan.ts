// Distributes endpoints over slices of at most 100: which slices to create, update and delete, with as few writes as possible.

import { sameValueBut } from '@cluster-apiserver/api/api/validation/same-value.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { Endpoint, EndpointPort, EndpointSlice } from '@cluster-apiserver/api/resources/discovery/v1.schema.js'

/** Maximum number of endpoints in a slice. */
const maxSliceEndpoints = 100

export interface SliceChanges {
  readonly create: readonly EndpointSlice[]
  readonly update: readonly EndpointSlice[]
  readonly remove: readonly EndpointSlice[]
  readonly unchanged: readonly EndpointSlice[]
}

export const noChanges: SliceChanges = { create: [], update: [], remove: [], unchanged: [] }

export const joinChanges = (a: SliceChanges, b: SliceChanges): SliceChanges => ({
  create: [...a.create, ...b.create],
  update: [...a.update, ...b.update],
  remove: [...a.remove, ...b.remove],
  unchanged: [...a.unchanged, ...b.unchanged],
})

/** Slices with the same ports belong together, whatever the order of the ports. */
export const portsKeyOf = (ports: readonly EndpointPort[] | undefined): string =>
  sortTexts(
    (ports ?? []).map(({ name, protocol, port, appProtocol }) =>
      JSON.stringify([name ?? null, protocol ?? null, port ?? null, appProtocol ?? null]),
    ),
  ).join()

/** Endpoints with the same key are the same; their other fields are updated in place. */
const endpointKeyOf = ({ addresses = [], targetRef }: Endpoint): string =>
  JSON.stringify([sortTexts([...addresses]), targetRef?.namespace ?? '', targetRef?.name ?? ''])

interface SliceGroup {
  readonly existing: readonly EndpointSlice[]
  readonly desired: readonly Endpoint[]
  /** A slice without endpoints, and the labels of all slices. */
  readonly template: EndpointSlice
  readonly hasLabels: (slice: EndpointSlice) => boolean
}

interface Filled {
  readonly slice: EndpointSlice
  readonly endpoints: Endpoint[]
  isChanged: boolean
}

/**
 * Endpoints stay in their slice. New ones fill slices that change anyway, the fullest first; the rest goes to one unchanged slice with
 * enough space, the fullest, or to new slices.
 */
export function planSlices({ existing, desired, template, hasLabels }: SliceGroup): SliceChanges {
  const left = new Map(desired.map((endpoint) => [endpointKeyOf(endpoint), endpoint]))
  const remove: EndpointSlice[] = []
  const kept: Filled[] = []
  for (const slice of existing) {
    const { endpoints: before = [] } = slice
    const endpoints: Endpoint[] = []
    let isChanged = !hasLabels(slice)
    for (const endpoint of before) {
      const key = endpointKeyOf(endpoint)
      const wanted = left.get(key)
      if (wanted === undefined) continue
      left.delete(key)
      endpoints.push(wanted)
      if (!sameValueBut(endpoint, wanted, ['hints'])) isChanged = true
    }
    if (endpoints.length === before.length) kept.push({ slice, endpoints, isChanged })
    else if (endpoints.length === 0) remove.push(slice)
    else kept.push({ slice, endpoints, isChanged: true })
  }
  const rest = [...left.values()]
  for (const filled of kept.filter(({ isChanged }) => isChanged).sort(byFullest)) fill(filled, rest)
  const create: EndpointSlice[] = []
  while (rest.length > 0) {
    const fitting = rest.length < maxSliceEndpoints ? findFitting(kept, rest.length) : undefined
    if (fitting === undefined) create.push({ ...template, endpoints: rest.splice(0, maxSliceEndpoints) })
    else {
      fitting.isChanged = true
      fill(fitting, rest)
    }
  }
  return {
    create,
    remove,
    update: kept
      .filter(({ isChanged }) => isChanged)
      .map(({ slice, endpoints }) => ({ ...slice, endpoints, metadata: { ...slice.metadata, labels: template.metadata?.labels ?? {} } })),
    unchanged: kept.filter(({ isChanged }) => !isChanged).map(({ slice }) => slice),
  }
}

const byFullest = (a: Filled, b: Filled): number => b.endpoints.length - a.endpoints.length

function fill({ endpoints }: Filled, rest: Endpoint[]): void {
  endpoints.push(...rest.splice(0, Math.max(0, maxSliceEndpoints - endpoints.length)))
}

/** The fullest unchanged slice that has space for `count` more. */
const findFitting = (kept: readonly Filled[], count: number): Filled | undefined =>
  kept.filter(({ isChanged, endpoints }) => !isChanged && endpoints.length + count <= maxSliceEndpoints).sort(byFullest)[0]

/** Slices to create replace the contents of slices to delete: an update is cheaper for watchers than both. */
export function recycle(changes: SliceChanges, isReusable: (slice: EndpointSlice) => boolean): SliceChanges {
  const create = [...changes.create]
  const update = [...changes.update]
  const remove: EndpointSlice[] = []
  for (const slice of changes.remove) {
    const next = create.at(-1)
    if (next === undefined || next.addressType !== slice.addressType || !isReusable(slice)) {
      remove.push(slice)
      continue
    }
    create.pop()
    update.push({ ...next, metadata: { ...slice.metadata, annotations: {}, labels: next.metadata?.labels ?? {} } })
  }
  return { ...changes, create, update, remove }
}
