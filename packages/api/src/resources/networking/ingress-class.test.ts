// Tests of IngressClasses: immutable controller, parameters.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../expect-errors.fixture.js'
import { ingressClass } from './ingress.js'
import type { IngressClass, IngressClassSpec } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'c', resourceVersion: '1', generation: 1, creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (spec: IngressClassSpec): IngressClass => frozen({ metadata, spec: { controller: 'example.com/c', ...spec } })
const parameters = { kind: 'K', name: 'n' }

test('the scope of parameters defaults to Cluster', () => {
  const complete = ingressClass.defaults?.(make({ parameters }), context)
  assert.deepEqual(complete, make({ parameters: { ...parameters, scope: 'Cluster' } }))
  const bare = make({})
  assert.equal(ingressClass.defaults?.(bare, context), bare)
})

const rows: readonly (readonly [spec: IngressClassSpec, ...expected: readonly string[]])[] = [
  [{}],
  [{ parameters: { ...parameters, apiGroup: 'x.io', scope: 'Namespace', namespace: 'shop' } }],
  [{ controller: '' }, 'spec.controller: Required value'],
  [{ controller: 'nodomain' }, 'spec.controller: Invalid value: "nodomain": must be a domain-prefixed path'],
  [{ controller: `a.b/${'x'.repeat(250)}` }, 'spec.controller: Too long: must have at most 250 bytes'],
  [{ parameters }, 'spec.parameters.scope: Required value'],
  [
    { parameters: { ...parameters, scope: 'Odd' } },
    'spec.parameters.scope: Unsupported value: "Odd": supported values: "Cluster", "Namespace"',
  ],
  [
    { parameters: { ...parameters, scope: 'Namespace' } },
    "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
  ],
  [
    { parameters: { scope: 'Namespace', namespace: 'a.b' } },
    'spec.parameters.kind: Required value: kind is required',
    'spec.parameters.name: Required value: name is required',
    'spec.parameters.namespace: Invalid value: "a.b"',
  ],
  [
    { parameters: { ...parameters, scope: 'Cluster', namespace: 'a' } },
    "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'",
  ],
]
for (const [spec, ...expected] of rows)
  test(`create: ${rowTitle(spec, expected)}`, () => expectErrors(validateCreation(ingressClass, make(spec), context), expected))

test('the controller is immutable; other changes increase the generation', () => {
  const next = make({ controller: 'example.com/d' })
  expectErrors(validateChange(ingressClass, { next, old: make({}) }, context), [
    'spec.controller: Invalid value: "example.com/d": field is immutable',
  ])
  const without: IngressClass = { metadata, spec: {} }
  expectErrors(validateChange(ingressClass, { next: without, old: make({}) }, context), [
    'spec.controller: Invalid value: "": field is immutable',
    'spec.controller: Required value',
  ])
  const generation = (object: unknown) => (object as IngressClass).metadata?.generation
  assert.equal(generation(ingressClass.prepareUpdate?.(make({ parameters }), make({}), context)), 2)
  assert.equal(generation(ingressClass.prepareUpdate?.(make({}), make({}), context)), 1)
})

test('printer columns', () => {
  assert.deepEqual(ingressClass.table?.cells(make({}), context), ['c', 'example.com/c', '<none>', '60m'])
  assert.equal(ingressClass.table?.cells(make({ parameters }), context)[2], 'K/n')
  assert.equal(ingressClass.table?.cells(make({ parameters: { ...parameters, apiGroup: 'x.io' } }), context)[2], 'K.x.io/n')
})
