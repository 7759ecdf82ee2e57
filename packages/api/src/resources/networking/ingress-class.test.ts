// Ingress classes: who implements them stays, and parameters say where they lie.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { ingressClass } from './ingress-class.js'
import type { IngressClass, IngressClassSpec } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'c', resourceVersion: '1', generation: 1, creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (spec: IngressClassSpec): IngressClass => frozen({ metadata, spec: { controller: 'example.com/c', ...spec } })
const parameters = { kind: 'K', name: 'n' }

test('parameters lie outside of namespaces unless they say otherwise', () => {
  const complete = ingressClass.defaults?.(make({ parameters }), context)
  assert.deepEqual(complete, make({ parameters: { ...parameters, scope: 'Cluster' } }))
  const bare = make({})
  assert.equal(ingressClass.defaults?.(bare, context), bare)
})

const rows: readonly { readonly title: string; readonly spec: IngressClassSpec; readonly found: readonly string[] }[] = [
  { title: 'no parameters', spec: {}, found: [] },
  {
    title: 'parameters in a namespace',
    spec: { parameters: { ...parameters, apiGroup: 'x.io', scope: 'Namespace', namespace: 'shop' } },
    found: [],
  },
  { title: 'no controller', spec: { controller: '' }, found: ['spec.controller: Required value'] },
  {
    title: 'a controller without a domain',
    spec: { controller: 'nodomain' },
    found: ['spec.controller: Invalid value: "nodomain": must be a domain-prefixed path'],
  },
  {
    title: 'a controller that is too long',
    spec: { controller: `a.b/${'x'.repeat(250)}` },
    found: ['spec.controller: Too long: must have at most 250 bytes'],
  },
  { title: 'parameters without a scope', spec: { parameters }, found: ['spec.parameters.scope: Required value'] },
  {
    title: 'parameters of another scope',
    spec: { parameters: { ...parameters, scope: 'Odd' } },
    found: ['spec.parameters.scope: Unsupported value: "Odd": supported values: "Cluster", "Namespace"'],
  },
  {
    title: 'parameters in no namespace',
    spec: { parameters: { ...parameters, scope: 'Namespace' } },
    found: ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
  },
  {
    title: 'parameters in a bad namespace',
    spec: { parameters: { scope: 'Namespace', namespace: 'a.b' } },
    found: [
      'spec.parameters.kind: Required value: kind is required',
      'spec.parameters.name: Required value: name is required',
      'spec.parameters.namespace: Invalid value: "a.b"',
    ],
  },
  {
    title: 'parameters in a namespace and not',
    spec: { parameters: { ...parameters, scope: 'Cluster', namespace: 'a' } },
    found: ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
  },
]
for (const { title, spec, found } of rows)
  test(`create with ${title}`, () => expectErrors(validateCreation(ingressClass, make(spec), context), found))

test('the controller stays; other changes are counted', () => {
  const next = make({ controller: 'example.com/d' })
  expectErrors(validateChange(ingressClass, { next, old: make({}) }, context), [
    'spec.controller: Invalid value: "example.com/d": field is immutable',
  ])
  const generation = (object: unknown) => (object as IngressClass).metadata?.generation
  assert.equal(generation(ingressClass.prepareUpdate?.(make({ parameters }), make({}), context)), 2)
  assert.equal(generation(ingressClass.prepareUpdate?.(make({}), make({}), context)), 1)
})

test('rows of the table', () => {
  assert.deepEqual(ingressClass.table?.cells(make({}), context), ['c', 'example.com/c', '<none>', '60m'])
  assert.equal(ingressClass.table?.cells(make({ parameters }), context)[2], 'K/n')
  assert.equal(ingressClass.table?.cells(make({ parameters: { ...parameters, apiGroup: 'x.io' } }), context)[2], 'K.x.io/n')
})
