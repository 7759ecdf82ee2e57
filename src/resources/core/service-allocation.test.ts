// What services get, keep and give back, as little plays: a service, what is taken, and what comes of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { service } from './service.js'
import {
  type Allocation,
  type AllocationRequest,
  holdingsOf,
  releasedBy,
  serviceRangesOf,
  takeAddresses,
  takePorts,
} from './service-allocation.js'
import type { Service, ServiceSpec } from './v1.schema.js'

const context = usualContext()
const nodePorts = { first: 30000, last: 32767 }
const single = serviceRangesOf({ serviceRanges: ['10.96.0.0/16'], nodePorts })
const dual = serviceRangesOf({ serviceRanges: ['10.96.0.0/16', '2001:db8::/108'], nodePorts })
const port = { port: 80, protocol: 'TCP', targetPort: 80 }

const make = (spec: ServiceSpec): Service =>
  frozen(service.defaults?.({ metadata: { name: 's' }, spec: { ports: [port], ...spec } } as Service, context) ?? {})

interface Play {
  readonly old?: ServiceSpec
  readonly ranges?: typeof single
  readonly taken?: readonly (string | number)[]
  readonly dryRun?: boolean
}

function play(next: ServiceSpec, { old, ranges = single, taken = [], dryRun = false }: Play = {}): Allocation {
  const known = new Set(taken)
  const request: AllocationRequest = {
    next: make(next),
    old: old === undefined ? undefined : make(old),
    ranges,
    taken: { addresses: { has: (address) => known.has(address) }, ports: { has: (number) => known.has(number) } },
    random: () => 0,
    dryRun,
  }
  const first = takeAddresses(request)
  if (first.errors.length > 0) return first
  const second = takePorts({ ...request, next: first.service })
  const gained = { addresses: second.errors.length > 0 ? [] : first.gained.addresses, ports: second.gained.ports }
  return { ...second, gained }
}

const specOf = ({ service: { spec } }: Allocation): ServiceSpec => spec ?? {}
const addressesOf = (allocation: Allocation) => {
  const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy } = specOf(allocation)
  return { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy }
}
/** Chance is zero, so that the first free place above the reserved band is drawn. */
const firstDrawn = '10.96.1.1'
const firstDrawnSix = '2001:db8::101'
const stack = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }
const bothStacks = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' }

const creations: readonly { readonly title: string; readonly spec: ServiceSpec; readonly play?: Play; readonly kept: object }[] = [
  { title: 'an address that is drawn', spec: {}, kept: { clusterIP: firstDrawn, clusterIPs: [firstDrawn], ...stack } },
  {
    title: 'the next one where that is taken',
    spec: {},
    play: { taken: [firstDrawn] },
    kept: { clusterIP: '10.96.1.2', clusterIPs: ['10.96.1.2'], ...stack },
  },
  {
    title: 'the address that it chose',
    spec: { clusterIP: '10.96.0.7' },
    kept: { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'], ...stack },
  },
  {
    title: 'none where it is headless',
    spec: { clusterIP: 'None', selector: { a: 'b' } },
    kept: { clusterIP: 'None', clusterIPs: ['None'], ...stack },
  },
  {
    title: 'both families where it is headless and nobody selects for it',
    spec: { clusterIP: 'None' },
    kept: { clusterIP: 'None', clusterIPs: ['None'], ...bothStacks },
  },
  {
    title: 'nothing where it is another name',
    spec: { type: 'ExternalName', externalName: 'x' },
    kept: { clusterIP: undefined, clusterIPs: undefined, ipFamilies: undefined, ipFamilyPolicy: undefined },
  },
  {
    title: 'two addresses where it wants them',
    spec: { ipFamilyPolicy: 'RequireDualStack' },
    play: { ranges: dual },
    kept: { clusterIP: firstDrawn, clusterIPs: [firstDrawn, firstDrawnSix], ...bothStacks },
  },
  {
    title: 'one address where it would like two and there is one range',
    spec: { ipFamilyPolicy: 'PreferDualStack' },
    kept: { clusterIP: firstDrawn, clusterIPs: [firstDrawn], ipFamilies: ['IPv4'], ipFamilyPolicy: 'PreferDualStack' },
  },
  {
    title: 'the family of the address that it chose',
    spec: { clusterIP: '2001:db8::9' },
    play: { ranges: dual },
    kept: { clusterIP: '2001:db8::9', clusterIPs: ['2001:db8::9'], ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' },
  },
  {
    title: 'a second address to the one that it chose',
    spec: { clusterIP: '2001:db8::9', ipFamilyPolicy: 'PreferDualStack' },
    play: { ranges: dual },
    kept: {
      clusterIP: '2001:db8::9',
      clusterIPs: ['2001:db8::9', firstDrawn],
      ipFamilies: ['IPv6', 'IPv4'],
      ipFamilyPolicy: 'PreferDualStack',
    },
  },
  {
    title: 'an address in a dry run that nobody gets',
    spec: {},
    play: { dryRun: true },
    kept: { clusterIP: '10.96.0.0', clusterIPs: ['10.96.0.0'], ...stack },
  },
]

for (const row of creations) {
  test(`a new service gets ${row.title}`, () => {
    const allocation = play(row.spec, row.play)
    expectErrors(allocation.errors, [])
    assert.deepEqual(addressesOf(allocation), row.kept)
  })
}

const refusals: readonly { readonly title: string; readonly spec: ServiceSpec; readonly play?: Play; readonly found: readonly string[] }[] =
  [
    {
      title: 'an address that is taken, however it is spelled',
      spec: { clusterIP: '010.96.0.7' },
      play: { taken: ['10.96.0.7'] },
      found: ['spec.clusterIPs: Invalid value: ["010.96.0.7"]: failed to allocate IP 010.96.0.7: provided IP is already allocated'],
    },
    {
      title: 'an address that is taken, but not in a dry run',
      spec: { clusterIP: '10.96.0.7' },
      play: { taken: ['10.96.0.7'], dryRun: true },
      found: [],
    },
    {
      title: 'an address out of range, in a dry run too',
      spec: { clusterIP: '8.8.8.8' },
      play: { dryRun: true },
      found: [
        'spec.clusterIPs: Invalid value: ["8.8.8.8"]: failed to allocate IP 8.8.8.8: the provided IP (8.8.8.8) is not in the valid range. The range of valid IPs is 10.96.0.0/16',
      ],
    },
    {
      title: 'a family that the cluster does not have',
      spec: { ipFamilies: ['IPv6'] },
      found: ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
    },
    {
      title: 'an address of a family that the cluster does not have',
      spec: { clusterIP: '2001:db8::1' },
      found: ['spec.clusterIPs[0]: Invalid value: ["2001:db8::1"]: IPv6 is not configured on this cluster'],
    },
    {
      title: 'two stacks where there is one',
      spec: { ipFamilyPolicy: 'RequireDualStack' },
      found: ['spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services'],
    },
    {
      title: 'two families on a single stack',
      spec: { ipFamilies: ['IPv4', 'IPv6'] },
      play: { ranges: dual },
      found: [
        "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
      ],
    },
    {
      title: 'addresses that are none',
      spec: { clusterIP: 'x' },
      found: ['spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address'],
    },
    {
      title: 'a port that is taken, in a dry run too',
      spec: { type: 'NodePort', ports: [{ ...port, nodePort: 30007 }] },
      play: { taken: [30007], dryRun: true },
      found: ['spec.ports[0].nodePort: Invalid value: 30007: provided port is already allocated'],
    },
    {
      title: 'a port out of range',
      spec: { type: 'NodePort', ports: [{ ...port, nodePort: 80 }] },
      found: [
        'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
      ],
    },
    {
      title: 'a port for health checks that is taken',
      spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30007 },
      play: { taken: [30007] },
      found: ['spec.healthCheckNodePort: Invalid value: 30007: provided port is already allocated'],
    },
  ]

for (const row of refusals) {
  test(`a service is refused for ${row.title}`, () => {
    const allocation = play(row.spec, row.play)
    expectErrors(allocation.errors, row.found)
    if (row.found.length > 0) assert.deepEqual(allocation.gained, { addresses: [], ports: [] })
  })
}

test('a range that is used up is nobody’s mistake', () => {
  const tiny = serviceRangesOf({ serviceRanges: ['10.96.0.0/31'], nodePorts: { first: 30000, last: 30000 } })
  assert.equal(play({}, { ranges: tiny }).errors[0]?.reason, 'InternalError')
  const ports = { ...single, ports: { first: 30000, last: 30000 } }
  assert.equal(play({ type: 'NodePort' }, { ranges: ports, taken: [30000] }).errors[0]?.reason, 'InternalError')
})

const portsOf = (allocation: Allocation): readonly (number | undefined)[] =>
  (specOf(allocation).ports ?? []).map(({ nodePort }) => nodePort)
const named = (name: string, number: number, nodePort?: number, protocol = 'TCP') => ({
  name,
  port: number,
  protocol,
  targetPort: number,
  ...(nodePort === undefined ? {} : { nodePort }),
})

test('ports on the nodes are drawn, kept where they were chosen, and shared between protocols', () => {
  const allocation = play({
    type: 'NodePort',
    ports: [named('a', 80), named('b', 81, 30009), named('c', 80, undefined, 'UDP'), named('d', 82), named('e', 82, 30005, 'UDP')],
  })
  assert.deepEqual(portsOf(allocation), [30000, 30009, 30000, 30005, 30005])
  assert.deepEqual(allocation.gained, { addresses: [firstDrawn], ports: [30000, 30009, 30005] })
})

test('a balancer that wants no node ports gets those that it chose, and one for health checks', () => {
  const allocation = play({
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    allocateLoadBalancerNodePorts: false,
    ports: [named('a', 80), named('b', 81, 30009)],
  })
  assert.deepEqual(portsOf(allocation), [undefined, 30009])
  assert.equal(specOf(allocation).healthCheckNodePort, 30000)
})

const plain = { clusterIP: firstDrawn, clusterIPs: [firstDrawn], ...stack }
const stacked = { clusterIP: firstDrawn, clusterIPs: [firstDrawn, firstDrawnSix], ...bothStacks }
const changes: readonly {
  readonly title: string
  readonly next: ServiceSpec
  readonly old: ServiceSpec
  readonly kept: object
  readonly gained?: readonly string[]
}[] = [
  { title: 'an address that was left out', next: {}, old: plain, kept: plain },
  { title: 'two addresses that were left out', next: {}, old: stacked, kept: stacked },
  {
    title: 'an address where it had another name',
    next: {},
    old: { type: 'ExternalName', externalName: 'x' },
    kept: plain,
    gained: [firstDrawn],
  },
  { title: 'a second address', next: { ...plain, ipFamilyPolicy: 'RequireDualStack' }, old: plain, kept: stacked, gained: [firstDrawnSix] },
  { title: 'one address where it gives the second back', next: { ...stacked, ipFamilyPolicy: 'SingleStack' }, old: stacked, kept: plain },
  {
    title: 'both fields where it changes one, to be refused later',
    next: { ...plain, clusterIP: '10.96.9.9' },
    old: plain,
    kept: { ...plain, clusterIP: '10.96.9.9', clusterIPs: ['10.96.9.9'] },
  },
  {
    title: 'one address though the cluster has two families now',
    next: { ...plain, ipFamilyPolicy: 'PreferDualStack' },
    old: { ...plain, ipFamilyPolicy: 'PreferDualStack' },
    kept: { ...plain, ipFamilyPolicy: 'PreferDualStack' },
  },
  {
    title: 'nothing where it was headless',
    next: {},
    old: { ...plain, clusterIP: 'None', clusterIPs: ['None'] },
    kept: { ...plain, clusterIP: 'None', clusterIPs: ['None'] },
  },
]

for (const row of changes) {
  test(`a changed service keeps or gets ${row.title}`, () => {
    const allocation = play(row.next, { old: row.old, ranges: dual, taken: row.gained === undefined ? [firstDrawn, firstDrawnSix] : [] })
    expectErrors(allocation.errors, [])
    assert.deepEqual(addressesOf(allocation), row.kept)
    assert.deepEqual(allocation.gained.addresses, row.gained ?? [])
  })
}

test('fewer addresses without a word are a mistake', () => {
  const { ipFamilyPolicy, ...rest } = plain
  expectErrors(play({ ...rest, ipFamilyPolicy: 'RequireDualStack' }, { old: stacked, ranges: dual }).errors, [
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be \'SingleStack\' to release the secondary cluster IP',
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be \'SingleStack\' to release the secondary IP family',
  ])
})

test('ports on the nodes are recognised by name, and one that moved is not given twice', () => {
  const old: ServiceSpec = { ...plain, type: 'NodePort', ports: [named('a', 80, 30001), named('b', 81, 30002)] }
  const allocation = play(
    { ...plain, type: 'NodePort', ports: [named('a', 80), named('b', 81, 30001), named('c', 82)] },
    { old, taken: [30000, 30001, 30002] },
  )
  assert.deepEqual(portsOf(allocation), [30003, 30001, 30004])
  assert.deepEqual(allocation.gained.ports, [30003, 30004])
  assert.deepEqual(releasedBy(make(old), allocation.service), { addresses: [], ports: [30002] })
})

test('what a service holds, and gives back when it becomes another', () => {
  const balancer = make({ ...stacked, type: 'LoadBalancer', ports: [{ ...port, nodePort: 30001 }], healthCheckNodePort: 30002 })
  assert.deepEqual(holdingsOf(balancer), { addresses: [firstDrawn, firstDrawnSix], ports: [30001, 30002] })
  assert.deepEqual(releasedBy(balancer, make({ type: 'ExternalName', externalName: 'x' })), holdingsOf(balancer))
  assert.deepEqual(releasedBy(balancer, make(plain)), { addresses: [firstDrawnSix], ports: [30001, 30002] })
  assert.deepEqual(holdingsOf(make({ clusterIP: 'None', clusterIPs: ['None'] })), { addresses: [], ports: [] })
})
