// Allocation of cluster IPs and node ports of a Service. Pure: the caller stores the result.

import { type FieldError, invalid } from '../../../api/field-error.js'
import { noErrors } from '../../../api/validation/checks.js'
import { canonicalIp, type IpFamily } from '../../../api/validation/network/ip-text.js'
import type { Service, ServicePort, ServiceSpec } from '../v1.schema.js'
import { keepsStacks, resolveIpFamilies, withLinkedFields } from './service-ip-families.js'
import { type AddressRange, addressRangeOf, isInRange, networkAddress, nextAddress, scan, type Taken } from './service-ip-range.js'
import { getsNodePorts, headless, needsAddress, needsHealthPort, usesNodePorts } from './service-type.js'

interface PortRange {
  readonly first: number
  readonly last: number
}

interface PortSource {
  readonly range: PortRange
  readonly taken: Taken<number>
  readonly random: () => number
  readonly dryRun: boolean
}

interface PortAllocator {
  reserve(port: number): string | undefined
  any(): number | undefined
  readonly granted: ReadonlySet<number>
}

const takenProblem = 'provided port is already allocated'

export function portAllocatorOf(source: PortSource): PortAllocator {
  const { range, taken, random, dryRun } = source
  const granted = new Set<number>()
  const isFree = (port: number): boolean => !taken.has(port) && !granted.has(port)
  return {
    granted,
    reserve(port) {
      const isInRange = port >= range.first && port <= range.last
      // A dry run accepts ports outside of the range.
      if (!isInRange && !dryRun) return `provided port is not in the valid range. The range of valid ports is ${range.first}-${range.last}`
      if (!isFree(port)) return takenProblem
      granted.add(port)
      return undefined
    },
    any() {
      const port = dryRun
        ? (granted.size === 0 ? range.last : Math.max(...granted)) + 1
        : scan({ from: range.first, to: range.last + 1 }, random, (candidate) => (isFree(candidate) ? candidate : undefined))
      if (port !== undefined) granted.add(port)
      return port
    },
  }
}

interface PortResult {
  readonly spec: ServiceSpec
  readonly errors: readonly FieldError[]
}

function allocatePorts(next: ServiceSpec, old: ServiceSpec | undefined, allocator: PortAllocator): PortResult {
  const result = usesNodePorts(next) ? withNodePorts(next, old, allocator) : { spec: next, errors: noErrors }
  if (result.errors.length > 0 || !needsHealthPort(next) || (old !== undefined && needsHealthPort(old))) return result
  return withHealthPort(result.spec, allocator)
}

function withNodePorts(spec: ServiceSpec, old: ServiceSpec | undefined, allocator: PortAllocator): PortResult {
  const requestedPorts = (spec.ports ?? []) as readonly ServicePort[]
  const ports: ServicePort[] = []
  const allocate = old === undefined ? allocateForNew : allocateForUpdate(old)
  for (const [i, port] of requestedPorts.entries()) {
    if ((port.nodePort ?? 0) === 0 && !getsNodePorts(spec)) {
      ports.push(port)
      continue
    }
    const result = allocate({ port, requestedPorts, allocatedPorts: ports }, allocator)
    if (typeof result !== 'number') return { spec, errors: [result.at(`spec.ports[${i}].nodePort`)] }
    ports.push({ ...port, nodePort: result })
  }
  return { spec: ports.length === 0 ? spec : { ...spec, ports }, errors: noErrors }
}

interface PortRequest {
  readonly port: ServicePort
  readonly requestedPorts: readonly ServicePort[]
  readonly allocatedPorts: readonly ServicePort[]
}

interface PortError {
  readonly at: (field: string) => FieldError
}

const portError = (port: number, problem: string): PortError => ({ at: (field) => invalid(field, port, problem) })
const rangeFullError: PortError = {
  at: (field) => ({ reason: 'InternalError', field, message: 'Internal error: failed to allocate a nodePort: range is full' }),
}

type AllocatePort = (request: PortRequest, allocator: PortAllocator) => number | PortError

/** Two protocols on one port of a new Service share the node port. */
const allocateForNew: AllocatePort = ({ port, requestedPorts, allocatedPorts }, allocator) => {
  const { nodePort = 0 } = port
  const shared = allocatedPorts.find((other) => other.port === port.port && (other.nodePort ?? 0) !== 0)?.nodePort ?? 0
  if (shared !== 0 && (nodePort === 0 || nodePort === shared)) return shared
  const requested =
    shared === 0 ? (requestedPorts.find((other) => other.port === port.port && (other.nodePort ?? 0) !== 0)?.nodePort ?? 0) : nodePort
  return requested === 0 ? (allocator.any() ?? rangeFullError) : reserve(requested, allocator)
}

/** Keeps node ports that the Service already has. */
const allocateForUpdate =
  (old: ServiceSpec): AllocatePort =>
  ({ port: { nodePort = 0 } }, allocator) => {
    if (nodePort === 0) return allocator.any() ?? rangeFullError
    const isKept = (old.ports ?? []).some((port) => port.nodePort === nodePort) || allocator.granted.has(nodePort)
    return isKept ? nodePort : reserve(nodePort, allocator)
  }

function reserve(port: number, allocator: PortAllocator): number | PortError {
  const problem = allocator.reserve(port)
  return problem === undefined ? port : portError(port, problem)
}

function withHealthPort(spec: ServiceSpec, allocator: PortAllocator): PortResult {
  const { healthCheckNodePort: requested = 0 } = spec
  const result = requested === 0 ? (allocator.any() ?? rangeFullError) : reserve(requested, allocator)
  if (typeof result !== 'number') return { spec, errors: [result.at('spec.healthCheckNodePort')] }
  return { spec: { ...spec, healthCheckNodePort: result }, errors: noErrors }
}

/** `addresses`: one CIDR, or two of different IP families, the default first. `ports`: node ports. */
export interface ServiceRanges {
  readonly addresses: readonly AddressRange[]
  readonly ports: PortRange
}

export const serviceRangesOf = (settings: { readonly serviceRanges: readonly string[]; readonly nodePorts: PortRange }): ServiceRanges => ({
  addresses: settings.serviceRanges.map(addressRangeOf),
  ports: settings.nodePorts,
})

interface AllocatedResources {
  readonly addresses: readonly string[]
  readonly ports: readonly number[]
}

export interface AllocationRequest {
  readonly next: Service
  readonly old?: Service | undefined
  readonly ranges: ServiceRanges
  readonly taken: { readonly addresses: Taken<string>; readonly ports: Taken<number> }
  readonly random: () => number
  /** A dry run accepts addresses that are in use and ports outside of the range, and allocates nothing. */
  readonly dryRun: boolean
}

export interface Allocation {
  readonly service: Service
  /** Reserve these before the next await; release them if the write fails. */
  readonly allocated: AllocatedResources
  readonly errors: readonly FieldError[]
}

const noResources: AllocatedResources = { addresses: [], ports: [] }

/** Runs before prepareCreate or prepareUpdate and validation. */
export function allocateClusterIps(request: AllocationRequest): Allocation {
  const { next, old, ranges } = request
  const linked = withLinkedFields(next.spec ?? {}, old?.spec)
  const resolved = resolveIpFamilies(linked, old?.spec, familiesOf(ranges))
  if (resolved.errors.length > 0) return { service: next, allocated: noResources, errors: resolved.errors }
  const { spec, allocated, errors } = allocateAddresses(resolved.spec, request)
  if (errors.length > 0) return { service: next, allocated: noResources, errors }
  return { service: { ...next, spec }, allocated: request.dryRun ? noResources : { addresses: allocated, ports: [] }, errors }
}

export function allocateNodePorts({ next, old, ranges, taken, random, dryRun }: AllocationRequest): Allocation {
  const allocator = portAllocatorOf({ range: ranges.ports, taken: taken.ports, random, dryRun })
  const { spec, errors } = allocatePorts(next.spec ?? {}, old?.spec, allocator)
  const allocated = dryRun || errors.length > 0 ? noResources : { addresses: [], ports: [...allocator.granted] }
  return { service: { ...next, spec }, allocated, errors }
}

const familiesOf = ({ addresses }: ServiceRanges): readonly IpFamily[] => addresses.map(({ family }) => family)

interface AddressResult {
  readonly spec: ServiceSpec
  readonly allocated: readonly string[]
  readonly errors: readonly FieldError[]
}

function firstNewAddress(next: ServiceSpec, old: ServiceSpec | undefined): number | undefined {
  if (!needsAddress(next)) return undefined
  if (old === undefined || !needsAddress(old)) return next.clusterIPs?.[0] === headless ? undefined : 0
  if (keepsStacks(next, old) || old.clusterIPs?.[0] === headless) return undefined
  return old.ipFamilies?.length === 1 && next.ipFamilies?.length === 2 ? 1 : undefined
}

function allocateAddresses(spec: ServiceSpec, request: AllocationRequest): AddressResult {
  const start = firstNewAddress(spec, request.old?.spec)
  if (start === undefined) return { spec, allocated: [], errors: noErrors }
  const { ipFamilies = [] } = spec
  const addresses = [...(spec.clusterIPs ?? [])]
  const allocated: string[] = []
  for (let i = start; i < ipFamilies.length; i++) {
    const range = request.ranges.addresses.find(({ family }) => family === ipFamilies[i])
    const result = range === undefined ? 'range is full' : allocateAddress(range, addresses[i] ?? '', request)
    if (typeof result === 'string') return { spec, allocated: [], errors: [allocationError(spec, addresses[i] ?? '', result)] }
    addresses[i] = result.address
    allocated.push(canonicalIp(result.address))
  }
  return { spec: { ...spec, clusterIP: addresses[0] ?? '', clusterIPs: addresses }, allocated, errors: noErrors }
}

function allocateAddress(
  range: AddressRange,
  requested: string,
  { taken, random, dryRun }: AllocationRequest,
): { readonly address: string } | string {
  if (requested === '') {
    // A dry run returns the network address, which is never allocated.
    const address = dryRun ? networkAddress(range) : nextAddress(range, taken.addresses, random)
    return address === undefined ? 'range is full' : { address }
  }
  if (!isInRange(range, requested)) {
    return `the provided IP (${canonicalIp(requested)}) is not in the valid range. The range of valid IPs is ${range.text}`
  }
  return !dryRun && taken.addresses.has(canonicalIp(requested)) ? 'provided IP is already allocated' : { address: requested }
}

function allocationError(spec: ServiceSpec, requested: string, problem: string): FieldError {
  const field = 'spec.clusterIPs'
  if (requested !== '') return invalid(field, spec.clusterIPs ?? [requested], `failed to allocate IP ${requested}: ${problem}`)
  return { reason: 'InternalError', field, message: `Internal error: failed to allocate a serviceIP: ${problem}` }
}

/** Addresses and ports of a Service: reserved when the server starts, released when the Service is deleted. */
export function allocatedResourcesOf({ spec = {} }: Service): AllocatedResources {
  const addresses = needsAddress(spec) ? (spec.clusterIPs ?? []).filter((address) => address !== headless && address !== '') : []
  const ports = [...(spec.ports ?? []).map(({ nodePort = 0 }) => nodePort), spec.healthCheckNodePort ?? 0]
  return { addresses: addresses.map(canonicalIp), ports: [...new Set(ports.filter((port) => port !== 0))] }
}
