// Tests of Services: defaults, validation by type, immutable fields, changes of type.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../../expect-errors.fixture.js'
import type { Service, ServicePort, ServiceSpec } from '../v1.schema.js'
import { service } from './service.js'

const context = usualContext()
const metadata = { name: 's', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const port: ServicePort = { port: 80, protocol: 'TCP', targetPort: 80 }
const bare = (spec: ServiceSpec, more: Partial<Service> = {}): Service => frozen({ metadata, spec, ...more })
const complete = (spec: ServiceSpec, more?: Partial<Service>): Service => frozen(service.defaults?.(bare(spec, more), context) ?? {})
const make = (spec: ServiceSpec, more?: Partial<Service>): Service => complete({ ports: [port], ...spec }, more)

const balancer: ServiceSpec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 32000 }

const defaults: readonly (readonly [title: string, sent: ServiceSpec, kept: ServiceSpec])[] = [
  [
    'a ClusterIP Service',
    { ports: [{ port: 80 }, { port: 53, protocol: 'UDP', targetPort: 'dns' }] },
    {
      type: 'ClusterIP',
      ports: [port, { port: 53, protocol: 'UDP', targetPort: 'dns' }],
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    },
  ],
  [
    'empty target ports',
    {
      ports: [
        { port: 80, targetPort: 0 },
        { port: 81, targetPort: '' },
      ],
    },
    {
      type: 'ClusterIP',
      ports: [port, { port: 81, protocol: 'TCP', targetPort: 81 }],
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    },
  ],
  ['ExternalName', { type: 'ExternalName', externalName: 'x' }, { type: 'ExternalName', externalName: 'x', sessionAffinity: 'None' }],
  [
    'a LoadBalancer Service',
    { type: 'LoadBalancer' },
    {
      type: 'LoadBalancer',
      sessionAffinity: 'None',
      externalTrafficPolicy: 'Cluster',
      internalTrafficPolicy: 'Cluster',
      allocateLoadBalancerNodePorts: true,
    },
  ],
  [
    'ClientIP affinity',
    { type: 'NodePort', sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: {} } },
    {
      type: 'NodePort',
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
      externalTrafficPolicy: 'Cluster',
      internalTrafficPolicy: 'Cluster',
    },
  ],
  [
    'affinity None, which drops its configuration',
    { sessionAffinity: 'None', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
    { type: 'ClusterIP', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' },
  ],
]

for (const [title, sent, kept] of defaults) {
  test(`defaults of ${title}`, () => {
    const result = complete(sent)
    assert.deepEqual(result.spec, kept)
    assert.equal(service.defaults?.(result, context), result)
  })
}

const subdomain = 'a lowercase RFC 1123 subdomain'
const rows: readonly (readonly [spec: ServiceSpec, ...expected: readonly string[]])[] = [
  [{}],
  [{ ports: [], clusterIP: 'None', clusterIPs: ['None'] }],
  [{ ports: [] }, 'spec.ports: Required value'],
  [
    {
      ports: [
        { port: 0 },
        { port: 70000, protocol: 'ICMP', targetPort: 'Bad_Name' },
        { ...port, name: 'a' },
        { ...port, name: 'a', appProtocol: 'a b' },
      ],
    },
    'spec.ports[0].name: Required value',
    'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
    'spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive',
    'spec.ports[1].name: Required value',
    'spec.ports[1].port: Invalid value: 70000: must be between 1 and 65535, inclusive',
    'spec.ports[1].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
    'spec.ports[1].targetPort: Invalid value: "Bad_Name": must contain only alpha-numeric characters',
    'spec.ports[3].name: Duplicate value: "a"',
    'spec.ports[3].appProtocol: Invalid value: "a b": name part must consist of',
    'spec.ports[3]: Duplicate value: {"protocol":"TCP","port":80}',
  ],
  [
    {
      type: 'NodePort',
      ports: [
        { ...port, name: 'a', nodePort: 30000 },
        { ...port, name: 'b', port: 81, nodePort: 30000 },
      ],
    },
    'spec.ports[1].nodePort: Duplicate value: 30000',
  ],
  [{ ports: [{ ...port, nodePort: 30000 }] }, "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
  [
    { type: 'ExternalName', externalName: 'Not A Name', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
    'spec.ipFamilies: Forbidden: may not be set for ExternalName services',
    'spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services',
    `spec.externalName: Invalid value: "Not A Name": ${subdomain}`,
  ],
  [{ type: 'ExternalName', externalName: '.' }, 'spec.externalName: Required value'],
  [{ type: 'ExternalName', externalName: 'a.example.' }],
  [
    { ...balancer, ports: [{ ...port, port: 10250 }], clusterIP: 'None', clusterIPs: ['None'] },
    'spec.ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet',
    'spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for LoadBalancer services',
  ],
  [
    { type: 'Odd', sessionAffinity: 'Sticky', internalTrafficPolicy: 'Near', ipFamilies: ['IPX', 'IPX'], ipFamilyPolicy: 'Any' },
    'spec.sessionAffinity: Unsupported value: "Sticky": supported values: "ClientIP", "None"',
    'spec.ipFamilies[0]: Unsupported value: "IPX": supported values: "IPv4", "IPv6"',
    'spec.ipFamilies[1]: Unsupported value: "IPX"',
    'spec.ipFamilies[1]: Duplicate value: "IPX"',
    'spec.ipFamilyPolicy: Unsupported value: "Any": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
    'spec.type: Unsupported value: "Odd": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    'spec.internalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"',
  ],
  [
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
  ],
  [
    { externalIPs: ['x', '127.0.0.1', '192.0.2.1'] },
    'spec.externalIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7',
    'spec.externalIPs[1]: Invalid value: "127.0.0.1": may not be in the loopback range',
  ],
  [{ selector: { k: 'not ok!' } }, 'spec.selector: Invalid value: "not ok!"'],
  [{ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.2'] }, 'spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`'],
  [{ clusterIP: '10.0.0.1' }, 'spec.clusterIPs: Required value'],
  [{ clusterIPs: ['10.0.0.1'] }, 'spec.clusterIPs: Invalid value: ["10.0.0.1"]: must be empty when `clusterIP` is not specified'],
  [
    { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'] },
    'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family',
  ],
  [
    { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '::1', 'x'] },
    'spec.clusterIPs[2]: Invalid value: "x": must be a valid IP address',
    'spec.clusterIPs: Invalid value: ["10.0.0.1","::1","x"]: may only hold up to 2 values',
  ],
  [
    { clusterIP: 'None', clusterIPs: ['None', '10.0.0.1'] },
    'spec.clusterIPs: Invalid value: ["None","10.0.0.1"]: \'None\' must be the first and only value',
  ],
  [
    { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '2001:db8::1'], ipFamilies: ['IPv6', 'IPv4'] },
    'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
    'spec.clusterIPs[1]: Invalid value: "2001:db8::1": expected an IPv4 value as indicated by `ipFamilies[1]`',
  ],
  [{ ...balancer, loadBalancerSourceRanges: [' 10.0.0.0/8 '], loadBalancerClass: 'x.io/c' }],
  [
    { ...balancer, loadBalancerSourceRanges: ['10.0.0.0/8', 'x'], loadBalancerClass: 'a b' },
    'spec.LoadBalancerSourceRanges: Invalid value: "[10.0.0.0/8 x]": must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ',
    'spec.loadBalancerClass: Invalid value: "a b": name part must consist of',
  ],
  [
    {
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      allocateLoadBalancerNodePorts: false,
      loadBalancerClass: 'x.io/c',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 32000,
    },
    "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
    "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
    "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
    "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set when `type` is 'NodePort' or 'LoadBalancer'",
    "spec.healthCheckNodePort: Invalid value: 32000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
  ],
  [{ type: 'LoadBalancer', externalTrafficPolicy: 'Local' }, 'spec.healthCheckNodePort: Required value'],
]

for (const [spec, ...expected] of rows) {
  test(`create: ${rowTitle(spec, expected)}`, () => expectErrors(validateCreation(service, make(spec), context), expected))
}

test('source ranges in the annotation are validated, under both identities', () => {
  const annotated = (identity: 'cluster' | 'kubernetes', value: string): Service =>
    make(
      { type: 'LoadBalancer' },
      { metadata: { ...metadata, annotations: { [`service.beta.${identity}.io/load-balancer-source-ranges`]: value } } },
    )
  expectErrors(validateCreation(service, annotated('cluster', '10.0.0.0/8, 11.0.0.0/8'), context), [])
  expectErrors(validateCreation(service, annotated('cluster', ''), context), [])
  expectErrors(validateCreation(service, annotated('kubernetes', 'x'), usualContext('kubernetes')), [
    'metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: Invalid value: "x": must be a list',
  ])
})

test('the name must begin with a letter', () => {
  expectErrors(validateCreation(service, make({}, { metadata: { ...metadata, name: '1st' } }), context), [
    'metadata.name: Invalid value: "1st": a DNS-1035 label',
  ])
})

const singleStack: ServiceSpec = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }
const dualStack: ServiceSpec = {
  clusterIP: '10.0.0.1',
  clusterIPs: ['10.0.0.1', '2001:db8::1'],
  ipFamilies: ['IPv4', 'IPv6'],
  ipFamilyPolicy: 'RequireDualStack',
}
const changes: readonly (readonly [old: ServiceSpec, next: ServiceSpec, ...expected: readonly string[]])[] = [
  [singleStack, singleStack],
  [
    singleStack,
    { ...singleStack, clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] },
    'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
  ],
  [
    singleStack,
    { ...singleStack, clusterIP: 'None', clusterIPs: ['None'], ipFamilies: ['IPv6'] },
    'spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set',
  ],
  [
    singleStack,
    { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    'spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset',
  ],
  [singleStack, dualStack],
  [dualStack, { ...singleStack }],
  [
    dualStack,
    { ...singleStack, ipFamilyPolicy: 'PreferDualStack' },
    'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary clusterIP',
    'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary ipFamily',
  ],
  [
    dualStack,
    { ...singleStack, clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] },
    'spec.clusterIPs[0]: Invalid value: ["10.0.0.9"]: may not change once set',
  ],
  [
    singleStack,
    { ...singleStack, ipFamilies: ['IPv6'] },
    'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
    'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value',
  ],
  [singleStack, { type: 'ExternalName', externalName: 'a.b' }],
  [
    { ...singleStack, ...balancer },
    { ...singleStack, ...balancer, loadBalancerClass: 'x.io/c' },
    'spec.loadBalancerClass: Invalid value: "x.io/c": may not change once set',
  ],
  [
    { ...singleStack, ...balancer },
    { ...singleStack, ...balancer, healthCheckNodePort: 32001 },
    'spec.healthCheckNodePort: Forbidden: field is immutable',
  ],
]

for (const [old, next, ...expected] of changes) {
  test(`update: ${rowTitle(old, expected)}`, () =>
    expectErrors(validateChange(service, { next: make(next), old: make(old) }, context), expected))
}

const loadBalancer = { ingress: [{ ip: '192.0.2.1' }] }

test('a change of type drops the fields of the old type', () => {
  const old = make(
    { ...singleStack, ...balancer, loadBalancerClass: 'x.io/c', ports: [{ ...port, nodePort: 30001 }] },
    { status: { loadBalancer } },
  )
  const next = frozen(service.prepareUpdate?.({ ...old, spec: { ...old.spec, type: 'ClusterIP' } } as Service, old, context) as Service)
  assert.deepEqual(next.spec, {
    ...singleStack,
    type: 'ClusterIP',
    ports: [port],
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
  })
  assert.deepEqual(next.status, { loadBalancer: {} })
  const externalNameService = service.prepareUpdate?.(
    { ...next, spec: { ...next.spec, type: 'ExternalName', externalName: 'a.b' } } as Service,
    next,
    context,
  )
  assert.deepEqual((externalNameService as Service).spec, {
    type: 'ExternalName',
    externalName: 'a.b',
    ports: [port],
    sessionAffinity: 'None',
  })
})

test('fields changed together with the type are kept for validation', () => {
  const old = make({ ...singleStack, type: 'NodePort', ports: [{ ...port, nodePort: 30001 }] })
  const sent = { ...old, spec: { ...old.spec, type: 'ClusterIP', ports: [{ ...port, nodePort: 30002 }], externalTrafficPolicy: 'Local' } }
  const next = service.prepareUpdate?.(sent as Service, old, context) as Service
  assert.deepEqual([next.spec?.ports?.[0]?.nodePort, next.spec?.externalTrafficPolicy], [30002, 'Local'])
})

test('the status subresource keeps the spec', () => {
  const status = service.subresources?.find(({ name }) => name === 'status')
  assert.ok(status !== undefined)
  const old = make({ ...singleStack, type: 'LoadBalancer' })
  const next = status.prepareUpdate(
    frozen({ ...old, spec: {}, status: { loadBalancer: { ingress: [{ ip: 'x', hostname: '1.2.3.4' }] } } } as Service),
    old,
    context,
  )
  assert.deepEqual((next as Service).spec, old.spec)
  expectErrors(validateChange(service, { next, old, subresource: status }, context), [
    'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address',
    'status.loadBalancer.ingress[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
  ])
  assert.deepEqual(
    (service.prepareCreate?.(frozen({ ...old, status: { loadBalancer } } as Service), context) as Service | undefined)?.status,
    { loadBalancer: {} },
  )
})
