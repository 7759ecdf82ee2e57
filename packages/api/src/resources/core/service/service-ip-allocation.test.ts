// Tests of the allocation of cluster IPs and node ports: new Services, updates, dry run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../../api/rule-context.fixture.js'
import { expectErrors, rowTitle, usualContext } from '../../expect-errors.fixture.js'
import type { Service, ServiceSpec } from '../v1.schema.js'
import { service } from './service.js'
import {
  type Allocation,
  type AllocationRequest,
  allocateClusterIps,
  allocatedResourcesOf,
  allocateNodePorts,
  serviceRangesOf,
} from './service-ip-allocation.js'

const context = usualContext()
const nodePorts = { first: 30000, last: 32767 }
const singleStackRanges = serviceRangesOf({ serviceRanges: ['10.96.0.0/16'], nodePorts })
const dualStackRanges = serviceRangesOf({ serviceRanges: ['10.96.0.0/16', '2001:db8::/108'], nodePorts })
const port = { port: 80, protocol: 'TCP', targetPort: 80 }

const make = (spec: ServiceSpec): Service =>
  frozen(service.defaults?.({ metadata: { name: 's' }, spec: { ports: [port], ...spec } } as Service, context) ?? {})

interface AllocationInput {
  readonly old?: ServiceSpec
  readonly ranges?: typeof singleStackRanges
  readonly taken?: readonly (string | number)[]
  readonly dryRun?: boolean
}

function allocate(next: ServiceSpec, { old, ranges = singleStackRanges, taken = [], dryRun = false }: AllocationInput = {}): Allocation {
  const known = new Set(taken)
  const request: AllocationRequest = {
    next: make(next),
    old: old === undefined ? undefined : make(old),
    ranges,
    taken: { addresses: { has: (address) => known.has(address) }, ports: { has: (number) => known.has(number) } },
    random: () => 0,
    dryRun,
  }
  const first = allocateClusterIps(request)
  if (first.errors.length > 0) return first
  const second = allocateNodePorts({ ...request, next: first.service })
  const allocated = { addresses: second.errors.length > 0 ? [] : first.allocated.addresses, ports: second.allocated.ports }
  return { ...second, allocated: allocated }
}

const specOf = ({ service: { spec } }: Allocation): ServiceSpec => spec ?? {}
const addressesOf = (allocation: Allocation) => {
  const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy } = specOf(allocation)
  return { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy }
}
/** Random is 0: the first free address above the lower band is allocated. */
const firstDynamic = '10.96.1.1'
const firstDynamicIpv6 = '2001:db8::101'
const stack = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }
const bothStacks = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' }

const creations: readonly (readonly [title: string, spec: ServiceSpec, kept: object, allocate?: AllocationInput | undefined])[] = [
  ['a dynamic address', {}, { clusterIP: firstDynamic, clusterIPs: [firstDynamic], ...stack }],
  ['the next address if one is taken', {}, { clusterIP: '10.96.1.2', clusterIPs: ['10.96.1.2'], ...stack }, { taken: [firstDynamic] }],
  ['the requested address', { clusterIP: '10.96.0.7' }, { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'], ...stack }],
  ['no address if it is headless', { clusterIP: 'None', selector: { a: 'b' } }, { clusterIP: 'None', clusterIPs: ['None'], ...stack }],
  ['both families if it is headless without a selector', { clusterIP: 'None' }, { clusterIP: 'None', clusterIPs: ['None'], ...bothStacks }],
  [
    'no address if its type is ExternalName',
    { type: 'ExternalName', externalName: 'x' },
    { clusterIP: undefined, clusterIPs: undefined, ipFamilies: undefined, ipFamilyPolicy: undefined },
  ],
  [
    'two addresses with RequireDualStack',
    { ipFamilyPolicy: 'RequireDualStack' },
    { clusterIP: firstDynamic, clusterIPs: [firstDynamic, firstDynamicIpv6], ...bothStacks },
    { ranges: dualStackRanges },
  ],
  [
    'one address with PreferDualStack on a single-stack cluster',
    { ipFamilyPolicy: 'PreferDualStack' },
    { clusterIP: firstDynamic, clusterIPs: [firstDynamic], ipFamilies: ['IPv4'], ipFamilyPolicy: 'PreferDualStack' },
  ],
  [
    'the family of the requested address',
    { clusterIP: '2001:db8::9' },
    { clusterIP: '2001:db8::9', clusterIPs: ['2001:db8::9'], ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' },
    { ranges: dualStackRanges },
  ],
  [
    'a second address in addition to the requested one',
    { clusterIP: '2001:db8::9', ipFamilyPolicy: 'PreferDualStack' },
    {
      clusterIP: '2001:db8::9',
      clusterIPs: ['2001:db8::9', firstDynamic],
      ipFamilies: ['IPv6', 'IPv4'],
      ipFamilyPolicy: 'PreferDualStack',
    },
    { ranges: dualStackRanges },
  ],
  ['the network address in a dry run', {}, { clusterIP: '10.96.0.0', clusterIPs: ['10.96.0.0'], ...stack }, { dryRun: true }],
]

for (const [title, spec, kept, input] of creations) {
  test(`a new Service gets ${title}`, () => {
    const allocation = allocate(spec, input)
    expectErrors(allocation.errors, [])
    assert.deepEqual(addressesOf(allocation), kept)
  })
}

const allocationRows: readonly (readonly [spec: ServiceSpec, allocate: AllocationInput | undefined, ...expected: readonly string[]])[] = [
  [
    { clusterIP: '010.96.0.7' },
    { taken: ['10.96.0.7'] },
    'spec.clusterIPs: Invalid value: ["010.96.0.7"]: failed to allocate IP 010.96.0.7: provided IP is already allocated',
  ],
  [{ clusterIP: '10.96.0.7' }, { taken: ['10.96.0.7'], dryRun: true }],
  [
    { clusterIP: '8.8.8.8' },
    { dryRun: true },
    'spec.clusterIPs: Invalid value: ["8.8.8.8"]: failed to allocate IP 8.8.8.8: the provided IP (8.8.8.8) is not in the valid range. The range of valid IPs is 10.96.0.0/16',
  ],
  [{ ipFamilies: ['IPv6'] }, undefined, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
  [{ clusterIP: '2001:db8::1' }, undefined, 'spec.clusterIPs[0]: Invalid value: ["2001:db8::1"]: IPv6 is not configured on this cluster'],
  [
    { ipFamilyPolicy: 'RequireDualStack' },
    undefined,
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
  ],
  [
    { ipFamilies: ['IPv4', 'IPv6'] },
    { ranges: dualStackRanges },
    "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
  ],
  [{ clusterIP: 'x' }, undefined, 'spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address'],
  [
    { type: 'NodePort', ports: [{ ...port, nodePort: 30007 }] },
    { taken: [30007], dryRun: true },
    'spec.ports[0].nodePort: Invalid value: 30007: provided port is already allocated',
  ],
  [
    { type: 'NodePort', ports: [{ ...port, nodePort: 80 }] },
    undefined,
    'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
  ],
  [
    { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30007 },
    { taken: [30007] },
    'spec.healthCheckNodePort: Invalid value: 30007: provided port is already allocated',
  ],
]

for (const [spec, input, ...expected] of allocationRows) {
  test(`allocation: ${rowTitle(spec, expected)}`, () => {
    const allocation = allocate(spec, input)
    expectErrors(allocation.errors, expected)
    if (expected.length > 0) assert.deepEqual(allocation.allocated, { addresses: [], ports: [] })
  })
}

test('a full range is an internal error', () => {
  const tiny = serviceRangesOf({ serviceRanges: ['10.96.0.0/31'], nodePorts: { first: 30000, last: 30000 } })
  assert.equal(allocate({}, { ranges: tiny }).errors[0]?.reason, 'InternalError')
  const ports = { ...singleStackRanges, ports: { first: 30000, last: 30000 } }
  assert.equal(allocate({ type: 'NodePort' }, { ranges: ports, taken: [30000] }).errors[0]?.reason, 'InternalError')
})

const portsOf = (allocation: Allocation): readonly (number | undefined)[] =>
  (specOf(allocation).ports ?? []).map(({ nodePort }) => nodePort)
const namedPort = (name: string, number: number, nodePort?: number, protocol = 'TCP') => ({
  name,
  port: number,
  protocol,
  targetPort: number,
  ...(nodePort === undefined ? {} : { nodePort }),
})

test('node ports are allocated, kept if requested, and shared between protocols', () => {
  const allocation = allocate({
    type: 'NodePort',
    ports: [
      namedPort('a', 80),
      namedPort('b', 81, 30009),
      namedPort('c', 80, undefined, 'UDP'),
      namedPort('d', 82),
      namedPort('e', 82, 30005, 'UDP'),
    ],
  })
  assert.deepEqual(portsOf(allocation), [30000, 30009, 30000, 30005, 30005])
  assert.deepEqual(allocation.allocated, { addresses: [firstDynamic], ports: [30000, 30009, 30005] })
})

test('a load balancer without node ports gets requested ones, and a health check port', () => {
  const allocation = allocate({
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    allocateLoadBalancerNodePorts: false,
    ports: [namedPort('a', 80), namedPort('b', 81, 30009)],
  })
  assert.deepEqual(portsOf(allocation), [undefined, 30009])
  assert.equal(specOf(allocation).healthCheckNodePort, 30000)
})

const singleStackSpec = { clusterIP: firstDynamic, clusterIPs: [firstDynamic], ...stack }
const dualStackSpec = { clusterIP: firstDynamic, clusterIPs: [firstDynamic, firstDynamicIpv6], ...bothStacks }
const changes: readonly (readonly [
  title: string,
  next: ServiceSpec,
  old: ServiceSpec,
  kept: object,
  allocated?: readonly string[] | undefined,
])[] = [
  ['the address that the client omitted', {}, singleStackSpec, singleStackSpec],
  ['both addresses that the client omitted', {}, dualStackSpec, dualStackSpec],
  ['an address if its type was ExternalName', {}, { type: 'ExternalName', externalName: 'x' }, singleStackSpec, [firstDynamic]],
  [
    'a second address with RequireDualStack',
    { ...singleStackSpec, ipFamilyPolicy: 'RequireDualStack' },
    singleStackSpec,
    dualStackSpec,
    [firstDynamicIpv6],
  ],
  ['one address after a change to SingleStack', { ...dualStackSpec, ipFamilyPolicy: 'SingleStack' }, dualStackSpec, singleStackSpec],
  [
    'clusterIPs equal to a changed clusterIP, for validation to reject',
    { ...singleStackSpec, clusterIP: '10.96.9.9' },
    singleStackSpec,
    { ...singleStackSpec, clusterIP: '10.96.9.9', clusterIPs: ['10.96.9.9'] },
  ],
  [
    'one address with PreferDualStack after the cluster became dual-stack',
    { ...singleStackSpec, ipFamilyPolicy: 'PreferDualStack' },
    { ...singleStackSpec, ipFamilyPolicy: 'PreferDualStack' },
    { ...singleStackSpec, ipFamilyPolicy: 'PreferDualStack' },
  ],
  [
    'no address if it was headless',
    {},
    { ...singleStackSpec, clusterIP: 'None', clusterIPs: ['None'] },
    { ...singleStackSpec, clusterIP: 'None', clusterIPs: ['None'] },
  ],
]

for (const [title, next, old, kept, allocated] of changes) {
  test(`an updated Service keeps or gets ${title}`, () => {
    const allocation = allocate(next, {
      old,
      ranges: dualStackRanges,
      taken: allocated === undefined ? [firstDynamic, firstDynamicIpv6] : [],
    })
    expectErrors(allocation.errors, [])
    assert.deepEqual(addressesOf(allocation), kept)
    assert.deepEqual(allocation.allocated.addresses, allocated ?? [])
  })
}

test('removing an address without SingleStack is rejected', () => {
  const { ipFamilyPolicy, ...rest } = singleStackSpec
  expectErrors(allocate({ ...rest, ipFamilyPolicy: 'RequireDualStack' }, { old: dualStackSpec, ranges: dualStackRanges }).errors, [
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be \'SingleStack\' to release the secondary cluster IP',
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be \'SingleStack\' to release the secondary IP family',
  ])
})

test('node ports are kept by port name, and a moved one is not allocated twice', () => {
  const old: ServiceSpec = { ...singleStackSpec, type: 'NodePort', ports: [namedPort('a', 80, 30001), namedPort('b', 81, 30002)] }
  const allocation = allocate(
    { ...singleStackSpec, type: 'NodePort', ports: [namedPort('a', 80), namedPort('b', 81, 30001), namedPort('c', 82)] },
    { old, taken: [30000, 30001, 30002] },
  )
  assert.deepEqual(portsOf(allocation), [30003, 30001, 30004])
  assert.deepEqual(allocation.allocated.ports, [30003, 30004])
})

test('allocatedResourcesOf lists addresses and ports', () => {
  const balancer = make({ ...dualStackSpec, type: 'LoadBalancer', ports: [{ ...port, nodePort: 30001 }], healthCheckNodePort: 30002 })
  assert.deepEqual(allocatedResourcesOf(balancer), { addresses: [firstDynamic, firstDynamicIpv6], ports: [30001, 30002] })
  assert.deepEqual(allocatedResourcesOf(make({ clusterIP: 'None', clusterIPs: ['None'] })), { addresses: [], ports: [] })
})
