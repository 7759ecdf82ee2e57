// Services: what they default to, what each type must and must not have, what may change, and how a table shows them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { service } from './service.js'
import type { Service, ServicePort, ServiceSpec } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 's', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const port: ServicePort = { port: 80, protocol: 'TCP', targetPort: 80 }
const bare = (spec: ServiceSpec, more: Partial<Service> = {}): Service => frozen({ metadata, spec, ...more })
const complete = (spec: ServiceSpec, more?: Partial<Service>): Service => frozen(service.defaults?.(bare(spec, more), context) ?? {})
const make = (spec: ServiceSpec, more?: Partial<Service>): Service => complete({ ports: [port], ...spec }, more)

const balancer: ServiceSpec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 32000 }

const defaults: readonly { readonly title: string; readonly sent: ServiceSpec; readonly kept: ServiceSpec }[] = [
  {
    title: 'a plain one',
    sent: { ports: [{ port: 80 }, { port: 53, protocol: 'UDP', targetPort: 'dns' }] },
    kept: {
      type: 'ClusterIP',
      ports: [port, { port: 53, protocol: 'UDP', targetPort: 'dns' }],
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    },
  },
  {
    title: 'target ports that are nothing',
    sent: {
      ports: [
        { port: 80, targetPort: 0 },
        { port: 81, targetPort: '' },
      ],
    },
    kept: {
      type: 'ClusterIP',
      ports: [port, { port: 81, protocol: 'TCP', targetPort: 81 }],
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    },
  },
  {
    title: 'another name',
    sent: { type: 'ExternalName', externalName: 'x' },
    kept: { type: 'ExternalName', externalName: 'x', sessionAffinity: 'None' },
  },
  {
    title: 'a balancer',
    sent: { type: 'LoadBalancer' },
    kept: {
      type: 'LoadBalancer',
      sessionAffinity: 'None',
      externalTrafficPolicy: 'Cluster',
      internalTrafficPolicy: 'Cluster',
      allocateLoadBalancerNodePorts: true,
    },
  },
  {
    title: 'affinity',
    sent: { type: 'NodePort', sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: {} } },
    kept: {
      type: 'NodePort',
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
      externalTrafficPolicy: 'Cluster',
      internalTrafficPolicy: 'Cluster',
    },
  },
  {
    title: 'no affinity, which has nothing to configure',
    sent: { sessionAffinity: 'None', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
    kept: { type: 'ClusterIP', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' },
  },
]

for (const { title, sent, kept } of defaults) {
  test(`defaults of ${title}`, () => {
    const result = complete(sent)
    assert.deepEqual(result.spec, kept)
    assert.equal(service.defaults?.(result, context), result)
  })
}

const subdomain = 'a lowercase RFC 1123 subdomain'
const rows: readonly { readonly title: string; readonly spec: ServiceSpec; readonly found: readonly string[] }[] = [
  { title: 'a plain one', spec: {}, found: [] },
  { title: 'headless without ports', spec: { ports: [], clusterIP: 'None', clusterIPs: ['None'] }, found: [] },
  { title: 'no ports', spec: { ports: [] }, found: ['spec.ports: Required value'] },
  {
    title: 'ports that are wrong',
    spec: {
      ports: [
        { port: 0 },
        { port: 70000, protocol: 'ICMP', targetPort: 'Bad_Name' },
        { ...port, name: 'a' },
        { ...port, name: 'a', appProtocol: 'a b' },
      ],
    },
    found: [
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
  },
  {
    title: 'node ports that are repeated, or where there are none',
    spec: {
      type: 'NodePort',
      ports: [
        { ...port, name: 'a', nodePort: 30000 },
        { ...port, name: 'b', port: 81, nodePort: 30000 },
      ],
    },
    found: ['spec.ports[1].nodePort: Duplicate value: 30000'],
  },
  {
    title: 'a node port without nodes',
    spec: { ports: [{ ...port, nodePort: 30000 }] },
    found: ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
  },
  {
    title: 'another name with addresses',
    spec: {
      type: 'ExternalName',
      externalName: 'Not A Name',
      clusterIPs: ['10.0.0.1'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    },
    found: [
      'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
      'spec.ipFamilies: Forbidden: may not be set for ExternalName services',
      'spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services',
      `spec.externalName: Invalid value: "Not A Name": ${subdomain}`,
    ],
  },
  { title: 'no other name', spec: { type: 'ExternalName', externalName: '.' }, found: ['spec.externalName: Required value'] },
  { title: 'another name that is complete', spec: { type: 'ExternalName', externalName: 'a.example.' }, found: [] },
  {
    title: 'a headless balancer on the port of the nodes',
    spec: { ...balancer, ports: [{ ...port, port: 10250 }], clusterIP: 'None', clusterIPs: ['None'] },
    found: [
      'spec.ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet',
      'spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for LoadBalancer services',
    ],
  },
  {
    title: 'words that mean nothing',
    spec: { type: 'Odd', sessionAffinity: 'Sticky', internalTrafficPolicy: 'Near', ipFamilies: ['IPX', 'IPX'], ipFamilyPolicy: 'Any' },
    found: [
      'spec.sessionAffinity: Unsupported value: "Sticky": supported values: "ClientIP", "None"',
      'spec.ipFamilies[0]: Unsupported value: "IPX": supported values: "IPv4", "IPv6"',
      'spec.ipFamilies[1]: Unsupported value: "IPX"',
      'spec.ipFamilies[1]: Duplicate value: "IPX"',
      'spec.ipFamilyPolicy: Unsupported value: "Any": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
      'spec.type: Unsupported value: "Odd": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      'spec.internalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"',
    ],
  },
  {
    title: 'an affinity that never ends',
    spec: { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
    found: ['spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400'],
  },
  {
    title: 'external addresses that nobody reaches',
    spec: { externalIPs: ['x', '127.0.0.1', '192.0.2.1'] },
    found: [
      'spec.externalIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7',
      'spec.externalIPs[1]: Invalid value: "127.0.0.1": may not be in the loopback range',
    ],
  },
  { title: 'a bad selector', spec: { selector: { k: 'not ok!' } }, found: ['spec.selector: Invalid value: "not ok!"'] },
  {
    title: 'addresses that do not agree',
    spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.2'] },
    found: ['spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`'],
  },
  { title: 'only the singular address', spec: { clusterIP: '10.0.0.1' }, found: ['spec.clusterIPs: Required value'] },
  {
    title: 'only the plural address',
    spec: { clusterIPs: ['10.0.0.1'] },
    found: ['spec.clusterIPs: Invalid value: ["10.0.0.1"]: must be empty when `clusterIP` is not specified'],
  },
  {
    title: 'addresses of one family',
    spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'] },
    found: ['spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family'],
  },
  {
    title: 'three addresses, one of them none',
    spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '::1', 'x'] },
    found: [
      'spec.clusterIPs[2]: Invalid value: "x": must be a valid IP address',
      'spec.clusterIPs: Invalid value: ["10.0.0.1","::1","x"]: may only hold up to 2 values',
    ],
  },
  {
    title: 'nothing and something',
    spec: { clusterIP: 'None', clusterIPs: ['None', '10.0.0.1'] },
    found: ['spec.clusterIPs: Invalid value: ["None","10.0.0.1"]: \'None\' must be the first and only value'],
  },
  {
    title: 'an address of another family than it says',
    spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '2001:db8::1'], ipFamilies: ['IPv6', 'IPv4'] },
    found: [
      'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
      'spec.clusterIPs[1]: Invalid value: "2001:db8::1": expected an IPv4 value as indicated by `ipFamilies[1]`',
    ],
  },
  {
    title: 'a balancer in full',
    spec: { ...balancer, loadBalancerSourceRanges: [' 10.0.0.0/8 '], loadBalancerClass: 'x.io/c' },
    found: [],
  },
  {
    title: 'a balancer with ranges that are none and a bad class',
    spec: { ...balancer, loadBalancerSourceRanges: ['10.0.0.0/8', 'x'], loadBalancerClass: 'a b' },
    found: [
      'spec.LoadBalancerSourceRanges: Invalid value: "[10.0.0.0/8 x]": must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ',
      'spec.loadBalancerClass: Invalid value: "a b": name part must consist of',
    ],
  },
  {
    title: 'what only balancers have',
    spec: {
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      allocateLoadBalancerNodePorts: false,
      loadBalancerClass: 'x.io/c',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 32000,
    },
    found: [
      "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set when `type` is 'NodePort' or 'LoadBalancer'",
      "spec.healthCheckNodePort: Invalid value: 32000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    ],
  },
  {
    title: 'a local balancer without a port for health checks',
    spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
    found: ['spec.healthCheckNodePort: Required value'],
  },
]

for (const { title, spec, found } of rows) {
  test(`create ${title}`, () => expectErrors(validateCreation(service, make(spec), context), found))
}

test('ranges in an annotation, under either identity', () => {
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

test('a name begins with a letter', () => {
  expectErrors(validateCreation(service, make({}, { metadata: { ...metadata, name: '1st' } }), context), [
    'metadata.name: Invalid value: "1st": a DNS-1035 label',
  ])
})

const addressed: ServiceSpec = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }
const dual: ServiceSpec = {
  clusterIP: '10.0.0.1',
  clusterIPs: ['10.0.0.1', '2001:db8::1'],
  ipFamilies: ['IPv4', 'IPv6'],
  ipFamilyPolicy: 'RequireDualStack',
}
const changes: readonly { title: string; old: ServiceSpec; next: ServiceSpec; found: readonly string[] }[] = [
  { title: 'nothing', old: addressed, next: addressed, found: [] },
  {
    title: 'the address',
    old: addressed,
    next: { ...addressed, clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] },
    found: ['spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set'],
  },
  {
    title: 'the address to none at all, in another family',
    old: addressed,
    next: { ...addressed, clusterIP: 'None', clusterIPs: ['None'], ipFamilies: ['IPv6'] },
    found: ['spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set'],
  },
  {
    title: 'the address away',
    old: addressed,
    next: { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    found: ['spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset'],
  },
  { title: 'a second address added', old: addressed, next: dual, found: [] },
  { title: 'the second address away', old: dual, next: { ...addressed }, found: [] },
  {
    title: 'the second address away without saying so',
    old: dual,
    next: { ...addressed, ipFamilyPolicy: 'PreferDualStack' },
    found: [
      'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary clusterIP',
      'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary ipFamily',
    ],
  },
  {
    title: 'the first of two addresses',
    old: dual,
    next: { ...addressed, clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] },
    found: ['spec.clusterIPs[0]: Invalid value: ["10.0.0.9"]: may not change once set'],
  },
  {
    title: 'the family',
    old: addressed,
    next: { ...addressed, ipFamilies: ['IPv6'] },
    found: [
      'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
      'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value',
    ],
  },
  { title: 'to another name', old: addressed, next: { type: 'ExternalName', externalName: 'a.b' }, found: [] },
  {
    title: 'the class of a balancer',
    old: { ...addressed, ...balancer },
    next: { ...addressed, ...balancer, loadBalancerClass: 'x.io/c' },
    found: ['spec.loadBalancerClass: Invalid value: "x.io/c": may not change once set'],
  },
  {
    title: 'the port for health checks',
    old: { ...addressed, ...balancer },
    next: { ...addressed, ...balancer, healthCheckNodePort: 32001 },
    found: ['spec.healthCheckNodePort: Forbidden: field is immutable'],
  },
]

for (const { title, old, next, found } of changes) {
  test(`change ${title}`, () => expectErrors(validateChange(service, { next: make(next), old: make(old) }, context), found))
}

const loadBalancer = { ingress: [{ ip: '192.0.2.1' }] }

test('with its type, a service loses what only that type has', () => {
  const old = make(
    { ...addressed, ...balancer, loadBalancerClass: 'x.io/c', ports: [{ ...port, nodePort: 30001 }] },
    { status: { loadBalancer } },
  )
  const next = frozen(service.prepareUpdate?.({ ...old, spec: { ...old.spec, type: 'ClusterIP' } } as Service, old, context) as Service)
  assert.deepEqual(next.spec, { ...addressed, type: 'ClusterIP', ports: [port], sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' })
  assert.deepEqual(next.status, { loadBalancer: {} })
  const alias = service.prepareUpdate?.(
    { ...next, spec: { ...next.spec, type: 'ExternalName', externalName: 'a.b' } } as Service,
    next,
    context,
  )
  assert.deepEqual((alias as Service).spec, { type: 'ExternalName', externalName: 'a.b', ports: [port], sessionAffinity: 'None' })
})

test('what the client changed together with the type stays, to be refused', () => {
  const old = make({ ...addressed, type: 'NodePort', ports: [{ ...port, nodePort: 30001 }] })
  const sent = { ...old, spec: { ...old.spec, type: 'ClusterIP', ports: [{ ...port, nodePort: 30002 }], externalTrafficPolicy: 'Local' } }
  const next = service.prepareUpdate?.(sent as Service, old, context) as Service
  assert.deepEqual([next.spec?.ports?.[0]?.nodePort, next.spec?.externalTrafficPolicy], [30002, 'Local'])
})

test('the status has its own door', () => {
  const status = service.subresources?.find(({ name }) => name === 'status')
  assert.ok(status !== undefined)
  const old = make({ ...addressed, type: 'LoadBalancer' })
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
