// Tests of Ingresses: hosts, paths, backends, generation, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../expect-errors.fixture.js'
import { ingress } from './ingress.js'
import type { HTTPIngressPath, Ingress, IngressBackend, IngressSpec } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'i', namespace: 'shop', resourceVersion: '1', generation: 3, creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (spec: IngressSpec, more: Partial<Ingress> = {}): Ingress => frozen({ metadata, spec, status: { loadBalancer: {} }, ...more })
const backend: IngressBackend = { service: { name: 's', port: { number: 80 } } }
const path = (more: HTTPIngressPath): IngressSpec => ({
  rules: [{ http: { paths: [{ path: '/', pathType: 'Prefix', backend, ...more }] } }],
})
const withDefaultBackend = (target: IngressBackend): IngressSpec => ({ defaultBackend: target })

const pathField = 'spec.rules[0].http.paths[0]'
const rows: readonly (readonly [spec: IngressSpec, ...expected: readonly string[]])[] = [
  [withDefaultBackend(backend)],
  [{ rules: [{}] }],
  [{}, 'spec: Invalid value: []: either `defaultBackend` or `rules` must be specified'],
  [{ rules: [{ http: {} }] }, 'spec.rules[0].http.paths: Required value'],
  [{ rules: [{ http: { paths: [{ path: 'x' }] } }] }, `${pathField}.pathType: Required value: pathType must be specified`],
  [
    path({ pathType: 'Odd' }),
    `${pathField}.pathType: Unsupported value: "Odd": supported values: "Exact", "ImplementationSpecific", "Prefix"`,
  ],
  [path({ path: 'a' }), `${pathField}.path: Invalid value: "a": must be an absolute path`],
  [
    path({ path: '/a/./b//c%2Fd/..', pathType: 'Exact' }),
    ...["must not contain '//'", "must not contain '/./'", "must not contain '%2F'", "cannot end with '/..'"].map(
      (problem) => `${pathField}.path: Invalid value: "/a/./b//c%2Fd/..": ${problem}`,
    ),
  ],
  [path({ path: '/a//b', pathType: 'ImplementationSpecific' })],
  [path({ path: '', pathType: 'ImplementationSpecific' })],
  [path({ path: 'x', pathType: 'ImplementationSpecific' }), `${pathField}.path: Invalid value: "x": must be an absolute path`],
  [withDefaultBackend({}), 'spec.defaultBackend: Invalid value: "": resource or service backend is required'],
  [
    withDefaultBackend({ ...backend, resource: { kind: 'K', name: 'n' } }),
    'spec.defaultBackend: Invalid value: "": cannot set both resource and service backends',
  ],
  [
    withDefaultBackend({ service: {} }),
    'spec.defaultBackend.service.name: Required value',
    'spec.defaultBackend: Required value: port name or number is required',
  ],
  [
    withDefaultBackend({ service: { name: 'S', port: { name: 'http', number: 80 } } }),
    'spec.defaultBackend.service.name: Invalid value: "S": a DNS-1035 label',
    'spec.defaultBackend: Invalid value: "": cannot set both port name & port number',
  ],
  [
    {
      ...withDefaultBackend({ service: { name: 's', port: { number: 70000 } } }),
      rules: [{ http: { paths: [{ path: '/', pathType: 'Exact', backend: { service: { name: 's', port: { name: 'a_b' } } } }] } }],
    },
    'spec.defaultBackend.service.port.number: Invalid value: 70000',
    `${pathField}.backend.service.port.name: Invalid value: "a_b"`,
  ],
  [
    withDefaultBackend({ resource: { apiGroup: 'Bad', kind: 'a/b' } }),
    'spec.defaultBackend.resource.apiGroup: Invalid value: "Bad"',
    'spec.defaultBackend.resource.kind: Invalid value: "a/b": may not contain \'/\'',
    'spec.defaultBackend.resource.name: Required value: name is required',
  ],
  [
    {
      rules: [{ host: '1.2.3.4' }, { host: '*bad.com' }, { host: '*.good.com' }],
      tls: [{ hosts: ['-x', '*.y.z'], secretName: 'S' }],
      ingressClassName: 'Bad Name',
    },
    'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
    'spec.rules[1].host: Invalid value: "*bad.com": a wildcard DNS-1123 subdomain',
    'spec.tls[0].hosts[0]: Invalid value: "-x"',
    'spec.tls[0].secretName: Invalid value: "S"',
    'spec.ingressClassName: Invalid value: "Bad Name"',
  ],
]
for (const [spec, ...expected] of rows)
  test(`create: ${rowTitle(spec, expected)}`, () => expectErrors(validateCreation(ingress, make(spec), context), expected))

test('create rejects a class in both annotation and field', () => {
  const annotated = (value: string) =>
    make(
      { ...withDefaultBackend(backend), ingressClassName: 'y' },
      { metadata: { ...metadata, annotations: { 'cluster.io/ingress.class': value } } },
    )
  expectErrors(validateCreation(ingress, annotated('y'), context), [
    'annotations.cluster.io/ingress.class: Invalid value: "y": can not be set when the class field is also set',
  ])
  expectErrors(validateCreation(ingress, annotated('x'), context), [
    'annotations.cluster.io/ingress.class: Invalid value: "x": can not be set when the class field is also set',
  ])
  expectErrors(validateChange(ingress, { next: annotated('x'), old: annotated('y') }, context), [])
})

test('violations of the old object are accepted on update', () => {
  const wildcard: IngressSpec = { rules: [{ host: '*.x.y', http: {} }], tls: [{ secretName: 'S' }] }
  expectErrors(validateChange(ingress, { next: make(wildcard), old: make(wildcard) }, context), [])
  expectErrors(validateChange(ingress, { next: make(wildcard), old: make(withDefaultBackend(backend)) }, context), [
    'spec.rules[0].http.paths: Required value',
    'spec.tls[0].secretName: Invalid value: "S"',
  ])
})

test('spec changes increase the generation, and the status is updated separately', () => {
  const old = make(withDefaultBackend(backend), { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } })
  const generationOf = (object: unknown) => (object as Ingress).metadata?.generation
  assert.equal(generationOf(ingress.prepareCreate?.(old, context)), 1)
  assert.equal(generationOf(ingress.prepareUpdate?.(make(withDefaultBackend(backend)), old, context)), 3)
  const changed = ingress.prepareUpdate?.(make({ ...withDefaultBackend(backend), ingressClassName: 'x' }), old, context) as
    | Ingress
    | undefined
  assert.deepEqual([generationOf(changed), changed?.status], [4, old.status])
  const [status] = ingress.subresources ?? []
  assert.ok(status !== undefined)
  const next = status.prepareUpdate(make({}, { status: { loadBalancer: { ingress: [{ ip: 'x' }] } } }), old, context)
  assert.deepEqual((next as Ingress).spec, old.spec)
  expectErrors(validateChange(ingress, { next, old, subresource: status }, context), [
    'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address',
  ])
})

test('printer columns', () => {
  assert.deepEqual(ingress.table?.cells(make({}), context), ['i', '<none>', '*', '', '80', '60m'])
  const rules = ['a', '', 'b', 'c'].map((host) => ({ host }))
  const status = { loadBalancer: { ingress: [{ hostname: 'h' }, { ip: '192.0.2.1' }] } }
  assert.deepEqual(ingress.table?.cells(make({ rules, tls: [{}], ingressClassName: 'x' }, { status }), context), [
    'i',
    'x',
    'a,b,c',
    '192.0.2.1,h',
    '80, 443',
    '60m',
  ])
  assert.equal(ingress.table?.cells(make({ rules: [...rules, {}, { host: 'd' }] }), context)[2], 'a,b,c + 3 more...')
})
