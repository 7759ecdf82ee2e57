// Tests of the distribution of endpoints over slices, and of topology hints.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { Node } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { Endpoint, EndpointSlice } from '@cluster-apiserver/api/resources/discovery/v1.schema.js'
import { noChanges, planSlices, portsKeyOf, recycle, type SliceChanges } from './slice-plan.js'
import { addHints, removeHints, zoneRatiosOf } from './topology-hints.js'

const labels = { app: 'x' }
const endpoints = (from: number, to: number, more: Partial<Endpoint> = {}): Endpoint[] =>
  Array.from({ length: to - from }, (_, i) => ({ addresses: [`10.0.0.${from + i}`], conditions: { ready: true }, ...more }))
const slice = (name: string, list: readonly Endpoint[], of: { readonly [name: string]: string } = labels): EndpointSlice => ({
  metadata: { name, labels: of },
  addressType: 'IPv4',
  endpoints: list,
})
const template: EndpointSlice = { metadata: { generateName: 'web-', labels }, addressType: 'IPv4', endpoints: [] }
const hasLabels = ({ metadata }: EndpointSlice): boolean => metadata?.labels?.['app'] === 'x'

const size = ({ metadata, endpoints: list = [] }: EndpointSlice): string => `${metadata?.name ?? 'new'}:${list.length}`
const show = ({ create, update, remove }: SliceChanges) => ({
  create: create.map(size),
  update: update.map(size),
  remove: remove.map(size),
})

const plans: readonly (readonly [title: string, existing: readonly EndpointSlice[], desired: readonly Endpoint[], expected: object])[] = [
  ['new slices of at most 100', [], endpoints(0, 250), { create: ['new:100', 'new:100', 'new:50'], update: [], remove: [] }],
  ['nothing to do', [slice('a', endpoints(0, 100))], endpoints(0, 100), { create: [], update: [], remove: [] }],
  ['a slice without endpoints is deleted', [slice('a', endpoints(0, 3))], [], { create: [], update: [], remove: ['a:3'] }],
  [
    'changed slices are filled first, the fullest first',
    [slice('a', endpoints(0, 50)), slice('b', endpoints(50, 149)), slice('c', endpoints(149, 160))],
    [...endpoints(1, 50), ...endpoints(51, 149), ...endpoints(149, 160), ...endpoints(200, 206)],
    { create: [], update: ['a:53', 'b:100'], remove: [] },
  ],
  [
    'the rest goes to the fullest unchanged slice with enough space',
    [slice('a', endpoints(0, 10)), slice('b', endpoints(10, 90)), slice('c', endpoints(90, 185))],
    endpoints(0, 195),
    { create: [], update: ['b:90'], remove: [] },
  ],
  [
    'or to a new slice: endpoints are not spread over several',
    [slice('a', endpoints(0, 95)), slice('b', endpoints(95, 190))],
    endpoints(0, 198),
    { create: ['new:8'], update: [], remove: [] },
  ],
  ['labels that differ', [slice('a', endpoints(0, 1), {})], endpoints(0, 1), { create: [], update: ['a:1'], remove: [] }],
  [
    'a condition that differs',
    [slice('a', endpoints(0, 2))],
    endpoints(0, 2, { conditions: { ready: false } }),
    { create: [], update: ['a:2'], remove: [] },
  ],
  [
    'hints are no difference',
    [slice('a', endpoints(0, 2, { hints: { forZones: [{ name: 'z' }] } }))],
    endpoints(0, 2),
    { create: [], update: [], remove: [] },
  ],
]

for (const [title, existing, desired, expected] of plans)
  test(`slices: ${title}`, () => assert.deepEqual(show(planSlices({ existing, desired, template, hasLabels })), expected))

test('any history of endpoints ends with every endpoint once, in slices of at most 100', () => {
  let seed = 7
  const random = (limit: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return Math.floor((seed / 2147483648) * limit)
  }
  let slices: readonly EndpointSlice[] = []
  let names = 0
  for (let round = 0; round < 60; round++) {
    const desired = Array.from({ length: 600 }, (_, i) => i)
      .filter(() => random(3) > 0)
      .flatMap((i) => endpoints(i, i + 1))
    const { create, update, unchanged, remove } = planSlices({ existing: slices, desired, template, hasLabels })
    assert.equal(update.length + unchanged.length + remove.length, slices.length)
    slices = [...update, ...unchanged, ...create.map((made) => ({ ...made, metadata: { name: String(++names), labels } }))]
    const found = slices.flatMap(({ endpoints: list = [] }) => list.map(({ addresses = [] }) => addresses[0] ?? ''))
    assert.deepEqual(new Set(found), new Set(desired.map(({ addresses = [] }) => addresses[0])))
    assert.equal(found.length, desired.length)
    assert.ok(slices.every(({ endpoints: list = [] }) => list.length > 0 && list.length <= 100))
  }
})

test('a slice to create takes the place of a slice to delete, unless that has another owner', () => {
  const changes = { ...noChanges, create: [{ ...template, endpoints: endpoints(0, 1) }], remove: [slice('other', []), slice('mine', [])] }
  const { create, update, remove } = show(recycle(changes, ({ metadata }) => metadata?.name === 'mine'))
  assert.deepEqual({ create, update, remove }, { create: [], update: ['mine:1'], remove: ['other:0'] })
})

test('the order of ports does not matter, absent names do', () => {
  const [a, b] = [
    { name: 'a', port: 1 },
    { name: 'b', port: 2 },
  ]
  assert.equal(portsKeyOf([a, b]), portsKeyOf([b, a]))
  assert.notEqual(portsKeyOf([{ port: 1 }]), portsKeyOf([{ name: '', port: 1 }]))
})

const identity = identityOf('kubernetes')
const node = (zone: string, cpu: string, more: { readonly [name: string]: string } = {}, ready = 'True'): Node => ({
  metadata: { labels: { [identity.label('zone', 'topology')]: zone, ...more } },
  status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: ready }] },
})

test('zones share CPUs of ready nodes without a control plane', () => {
  const controlPlane = { [identity.label('control-plane', 'node-role')]: '' }
  const nodes = [node('b', '1'), node('a', '2'), node('a', '1000m'), node('c', '4', {}, 'False'), node('c', '4', controlPlane)]
  assert.deepEqual(
    [...(zoneRatiosOf(identity, nodes) ?? [])],
    [
      ['a', 0.75],
      ['b', 0.25],
    ],
  )
  assert.equal(zoneRatiosOf(identity, [node('a', '1')]), undefined)
  assert.equal(zoneRatiosOf(identity, [node('a', '1'), node('b', '1'), node('', '1')]), undefined)
})

const half = new Map([
  ['a', 0.5],
  ['b', 0.5],
])
const hintsOf = ({ create, update }: SliceChanges): readonly string[] =>
  [...create, ...update].flatMap(({ endpoints: list = [] }) => list.map(({ zone, hints }) => `${zone}>${hints?.forZones?.[0]?.name ?? ''}`))
const inZones = (...zones: readonly string[]): Endpoint[] =>
  zones.map((zone, i) => ({ addresses: [`10.0.0.${i}`], conditions: { ready: zone !== '-' }, zone }))

const hintRows: readonly (readonly [title: string, zones: readonly string[], expected: readonly string[]])[] = [
  ['balanced zones keep their endpoints', ['a', 'b'], ['a>a', 'b>b']],
  ['a zone gives what it has too many', ['a', 'a', 'a', 'a', 'b', 'b'], ['a>b', 'a>a', 'a>a', 'a>a', 'b>b', 'b>b']],
  ['a zone without endpoints receives some', ['a', 'a'], ['a>b', 'a>a']],
  ['too few endpoints', ['a'], ['a>']],
  ['endpoints that are not ready get none', ['a', 'b', '-'], ['a>a', 'b>b', '->']],
  ['no hints if a zone is unknown', ['a', 'b', ''], ['a>', 'b>', '>']],
]

for (const [title, zones, expected] of hintRows) {
  test(`hints: ${title}`, () => {
    const changes = { ...noChanges, create: [slice('s', inZones(...zones))] }
    assert.deepEqual(hintsOf(addHints(changes, half).changes), expected)
  })
}

test('hints of unchanged slices stay while they are valid, and are removed when hints are off', () => {
  const hinted = slice(
    's',
    inZones('a', 'b').map((endpoint) => ({ ...endpoint, hints: { forZones: [{ name: endpoint.zone ?? '' }] } })),
  )
  const changes = { ...noChanges, unchanged: [hinted] }
  assert.deepEqual(addHints(changes, half).changes.update, [])
  assert.deepEqual(hintsOf(addHints({ ...noChanges, unchanged: [slice('s', inZones('a', 'b'))] }, half).changes), ['a>a', 'b>b'])
  assert.deepEqual(hintsOf(addHints(changes, undefined).changes), ['a>', 'b>'])
  assert.deepEqual(hintsOf(removeHints(changes)), ['a>', 'b>'])
})
