// Tests of the subsets of Endpoints: ready and not ready addresses, ports, families, the limit of addresses; and of trigger times.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSubset, Pod, Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { subsetsOf, truncate } from './subsets.js'
import { TriggerTimes } from './trigger-times.js'

interface PodOptions {
  readonly ips?: readonly string[]
  readonly ready?: boolean
  readonly http?: number
  readonly more?: Partial<Pod['spec']>
  readonly phase?: string
  readonly isTerminating?: boolean
}

const pod = (
  name: string,
  { ips = ['10.0.0.1'], ready = true, http, more = {}, phase = 'Running', isTerminating = false }: PodOptions = {},
): Pod => ({
  metadata: { name, namespace: 'n', uid: `${name}-uid`, ...(isTerminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
  spec: {
    nodeName: 'node',
    containers: [{ name: 'c', ...(http === undefined ? {} : { ports: [{ name: 'http', containerPort: http, protocol: 'TCP' }] }) }],
    ...more,
  },
  status: { phase, podIPs: ips.map((ip) => ({ ip })), conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
})

const service = (spec: Service['spec']): Service => ({
  metadata: { name: 'web', namespace: 'n' },
  spec: { clusterIP: '10.1.0.1', ipFamilies: ['IPv4'], ports: [{ port: 80, protocol: 'TCP', targetPort: 8080 }], ...spec },
})

const named = service({ ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'http' }] })

/** Subsets as `ready addresses | other addresses | ports`. */
const show = (subsets: readonly EndpointSubset[]): readonly string[] =>
  subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
    [
      addresses.map(({ ip, hostname }) => (hostname === undefined ? ip : `${ip}=${hostname}`)),
      notReadyAddresses.map(({ ip }) => ip),
      ports.map(({ name = '', port, protocol }) => `${name}:${port}/${protocol}`),
    ]
      .map((list) => list.join())
      .join('|'),
  )

const rows: readonly (readonly [title: string, service: Service, pods: readonly Pod[], expected: readonly string[]])[] = [
  ['no pods', service({}), [], []],
  [
    'ready and other pods, in the order of the texts of their addresses',
    service({}),
    [pod('a', { ips: ['10.0.0.10'] }), pod('b', { ips: ['10.0.0.9'] }), pod('c', { ips: ['10.0.0.3'], ready: false })],
    ['10.0.0.10,10.0.0.9|10.0.0.3|:8080/TCP'],
  ],
  [
    'pods that finished, terminate or have no address are left out',
    service({}),
    [pod('a', { phase: 'Succeeded' }), pod('b', { ips: [] }), pod('c', { isTerminating: true })],
    [],
  ],
  [
    'published whether ready or not',
    service({ publishNotReadyAddresses: true }),
    [pod('a', { ready: false }), pod('b', { ips: ['10.0.0.2'], isTerminating: true })],
    ['10.0.0.1,10.0.0.2||:8080/TCP'],
  ],
  [
    'a named port with different numbers makes two subsets; a pod without it is left out',
    named,
    [pod('a', { http: 1 }), pod('b', { ips: ['10.0.0.2'], http: 2 }), pod('c', { ips: ['10.0.0.3'] })],
    ['10.0.0.1||http:1/TCP', '10.0.0.2||http:2/TCP'],
  ],
  [
    'ports with the same addresses make one subset, in the order that clusters with CoreDNS show',
    service({
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
        { name: 'metrics', port: 9153, protocol: 'TCP', targetPort: 9153 },
        { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 53 },
      ],
    }),
    [pod('a')],
    ['10.0.0.1||dns-tcp:53/TCP,dns:53/UDP,metrics:9153/TCP'],
  ],
  ['a headless Service needs no ports', service({ clusterIP: 'None', ports: [] }), [pod('a')], ['10.0.0.1||']],
  ['another Service without ports has no addresses', service({ ports: [] }), [pod('a')], []],
  [
    'the first family decides',
    service({ ipFamilies: ['IPv6', 'IPv4'] }),
    [pod('a', { ips: ['10.0.0.1', 'fd00::1'] })],
    ['fd00::1||:8080/TCP'],
  ],
  ['a pod without an address of that family is left out', service({ ipFamilies: ['IPv6'] }), [pod('a')], []],
  [
    'the host name of a pod in the subdomain',
    service({}),
    [pod('a', { more: { hostname: 'h', subdomain: 'web' } })],
    ['10.0.0.1=h||:8080/TCP'],
  ],
  ['not in another subdomain', service({}), [pod('a', { more: { hostname: 'h', subdomain: 'x' } })], ['10.0.0.1||:8080/TCP']],
]

for (const [title, of, pods, expected] of rows) test(`subsets: ${title}`, () => assert.deepEqual(show(subsetsOf(of, pods)), expected))

const many = (count: number) => Array.from({ length: count }, (_, i) => ({ ip: String(i) }))
const sizes = (subsets: readonly EndpointSubset[] | undefined) =>
  subsets?.map(({ addresses = [], notReadyAddresses = [] }) => [addresses.length, notReadyAddresses.length])

const limits: readonly (readonly [
  title: string,
  subsets: readonly EndpointSubset[],
  expected: readonly (readonly number[])[] | undefined,
])[] = [
  ['1,000 addresses stay', [{ addresses: many(600), notReadyAddresses: many(400) }], undefined],
  ['not ready addresses are dropped first', [{ addresses: many(600), notReadyAddresses: many(401) }], [[600, 400]]],
  ['ready ones only if they are too many', [{ addresses: many(1001), notReadyAddresses: many(5) }], [[1000, 0]]],
  [
    'every subset keeps its share',
    [{ addresses: many(1000) }, { addresses: many(500) }],
    [
      [667, 0],
      [333, 0],
    ],
  ],
]

for (const [title, subsets, expected] of limits) test(`limit: ${title}`, () => assert.deepEqual(sizes(truncate(subsets)), expected))

test('the trigger time is the earliest change since the last run, and none after a deletion', () => {
  const times = new TriggerTimes()
  const ready = (name: string, second: number): Pod => ({
    metadata: { name },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: `2026-01-01T00:00:0${second}Z` }] },
  })
  const of: Service = { metadata: { creationTimestamp: '2026-01-01T00:00:03Z' } }
  assert.equal(times.next('n/a', of, []), '2026-01-01T00:00:03Z')
  assert.equal(times.next('n/a', of, [ready('a', 5), ready('b', 4)]), '2026-01-01T00:00:04Z')
  assert.equal(times.next('n/a', of, [ready('a', 5)]), undefined)
  assert.equal(times.next('n/a', of, [ready('a', 6), ready('b', 7)]), '2026-01-01T00:00:06Z')
  times.forget('n/a')
  assert.equal(times.next('n/a', of, [ready('a', 1)]), '2026-01-01T00:00:03Z', 'the first run of a Service: its creation')
  times.forget('n/a')
  assert.equal(times.next('n/a', of, []), '2026-01-01T00:00:03Z')
})
