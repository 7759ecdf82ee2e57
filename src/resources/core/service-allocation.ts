// The addresses and node ports of a service: which it gets on a write, which it holds, which it gives back. Pure: who is asked what is
// taken and who remembers it is the caller's matter, and so is chance.

import { type FieldError, invalid } from '../../api/field-error.js'
import { noErrors } from '../../api/validation/fields.js'
import { canonicalIp, type IpFamily } from '../../api/validation/ip-text.js'
import { type AddressRange, addressRangeOf, isInRange, networkAddress, nextAddress, type Taken } from './address-range.js'
import { drawPorts, type PortRange } from './node-port-draw.js'
import { keepsStacks, settleFamilies } from './service-families.js'
import { withLinkedFields } from './service-linked-fields.js'
import { headless, needsAddress } from './service-needs.js'
import { allocatePorts } from './service-ports.js'
import type { Service, ServiceSpec } from './v1.schema.js'

/** Where services draw from: one range of addresses, or two of different families, the default one first. */
export interface ServiceRanges {
  readonly addresses: readonly AddressRange[]
  readonly ports: PortRange
}

/** Throws when a text is no range. */
export const serviceRangesOf = (settings: { readonly serviceRanges: readonly string[]; readonly nodePorts: PortRange }): ServiceRanges => ({
  addresses: settings.serviceRanges.map(addressRangeOf),
  ports: settings.nodePorts,
})

/** Addresses in their one spelling, and ports. */
export interface Holdings {
  readonly addresses: readonly string[]
  readonly ports: readonly number[]
}

export interface AllocationRequest {
  readonly next: Service
  /** What is stored now; absent when the service is new. */
  readonly old?: Service | undefined
  readonly ranges: ServiceRanges
  readonly taken: { readonly addresses: Taken<string>; readonly ports: Taken<number> }
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  /** Nothing will be taken, so that an address in use is no obstacle. */
  readonly dryRun: boolean
}

export interface Allocation {
  /** The service with all that it was given. Where there are errors, it is of no use. */
  readonly service: Service
  /** What was free and is meant for this service: to be taken before anything is awaited, and given back if the write fails. */
  readonly gained: Holdings
  readonly errors: readonly FieldError[]
}

const nothing: Holdings = { addresses: [], ports: [] }

/** The first step, on the object as it was sent, defaults included, before the kind prepares and validates it. */
export function takeAddresses(request: AllocationRequest): Allocation {
  const { next, old, ranges } = request
  const linked = withLinkedFields(next.spec ?? {}, old?.spec)
  const settled = settleFamilies(linked, old?.spec, familiesOf(ranges))
  if (settled.errors.length > 0) return { service: next, gained: nothing, errors: settled.errors }
  const { spec, gained, errors } = allocateAddresses(settled.spec, request)
  if (errors.length > 0) return { service: next, gained: nothing, errors }
  return { service: { ...next, spec }, gained: request.dryRun ? nothing : { addresses: gained, ports: [] }, errors }
}

/** The second step, on what the first one gave. */
export function takePorts({ next, old, ranges, taken, random, dryRun }: AllocationRequest): Allocation {
  const draw = drawPorts({ range: ranges.ports, taken: taken.ports, random, dryRun })
  const { spec, errors } = allocatePorts(next.spec ?? {}, old?.spec, draw)
  const gained = dryRun || errors.length > 0 ? nothing : { addresses: [], ports: [...draw.granted] }
  return { service: { ...next, spec }, gained, errors }
}

const familiesOf = ({ addresses }: ServiceRanges): readonly IpFamily[] => addresses.map(({ family }) => family)

interface Addressed {
  readonly spec: ServiceSpec
  readonly gained: readonly string[]
  readonly errors: readonly FieldError[]
}

/** From which place on the addresses of a service are new to it; undefined when it gets none. */
function firstNewAddress(next: ServiceSpec, old: ServiceSpec | undefined): number | undefined {
  if (!needsAddress(next)) return undefined
  if (old === undefined || !needsAddress(old)) return next.clusterIPs?.[0] === headless ? undefined : 0
  if (keepsStacks(next, old) || old.clusterIPs?.[0] === headless) return undefined
  return old.ipFamilies?.length === 1 && next.ipFamilies?.length === 2 ? 1 : undefined
}

function allocateAddresses(spec: ServiceSpec, request: AllocationRequest): Addressed {
  const start = firstNewAddress(spec, request.old?.spec)
  if (start === undefined) return { spec, gained: [], errors: noErrors }
  const { ipFamilies = [] } = spec
  const addresses = [...(spec.clusterIPs ?? [])]
  const gained: string[] = []
  for (let i = start; i < ipFamilies.length; i++) {
    const range = request.ranges.addresses.find(({ family }) => family === ipFamilies[i])
    const outcome = range === undefined ? 'range is full' : grant(range, addresses[i] ?? '', request)
    if (typeof outcome === 'string') return { spec, gained: [], errors: [refusal(spec, addresses[i] ?? '', outcome)] }
    addresses[i] = outcome.address
    gained.push(canonicalIp(outcome.address))
  }
  return { spec: { ...spec, clusterIP: addresses[0] ?? '', clusterIPs: addresses }, gained, errors: noErrors }
}

/** The address, or why it cannot be had. */
function grant(range: AddressRange, wanted: string, { taken, random, dryRun }: AllocationRequest): { readonly address: string } | string {
  if (wanted === '') {
    // A dry run shows that there would be an address, not which.
    const address = dryRun ? networkAddress(range) : nextAddress(range, taken.addresses, random)
    return address === undefined ? 'range is full' : { address }
  }
  if (!isInRange(range, wanted)) {
    return `the provided IP (${canonicalIp(wanted)}) is not in the valid range. The range of valid IPs is ${range.text}`
  }
  return !dryRun && taken.addresses.has(canonicalIp(wanted)) ? 'provided IP is already allocated' : { address: wanted }
}

function refusal(spec: ServiceSpec, wanted: string, why: string): FieldError {
  const field = 'spec.clusterIPs'
  if (wanted !== '') return invalid(field, spec.clusterIPs ?? [wanted], `failed to allocate IP ${wanted}: ${why}`)
  return { reason: 'InternalError', field, message: `Internal error: failed to allocate a serviceIP: ${why}` }
}

/** What a stored service holds: to be taken when the server starts, and given back when the service goes. */
export function holdingsOf({ spec = {} }: Service): Holdings {
  const addresses = needsAddress(spec) ? (spec.clusterIPs ?? []).filter((address) => address !== headless && address !== '') : []
  const ports = [...(spec.ports ?? []).map(({ nodePort = 0 }) => nodePort), spec.healthCheckNodePort ?? 0]
  return { addresses: addresses.map(canonicalIp), ports: [...new Set(ports.filter((port) => port !== 0))] }
}

/** What a service gives back when it has become another: to be given back once that is stored. */
export function releasedBy(old: Service, next: Service): Holdings {
  const [before, after] = [holdingsOf(old), holdingsOf(next)]
  return {
    addresses: before.addresses.filter((address) => !after.addresses.includes(address)),
    ports: before.ports.filter((port) => !after.ports.includes(port)),
  }
}
