// Tests of custom resources built from CRDs: pruning, defaulting, validation, versions, printer columns, scale.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BatchConversion } from '../../../api/definition/conversion-webhook.js'
import { compileJsonPath, PathBudget } from '../../../api/json-path/json-path.js'
import { JsonPathError } from '../../../api/json-path/json-path-syntax.js'
import type { ApiObject } from '../../../api/object.js'
import { testContext } from '../../../api/rule-context.fixture.js'
import { readValue } from '../../../schema/json/read.js'
import { readBackFields } from '../../../schema/json/read-back.js'
import { writeValue } from '../../../schema/json/write.js'
import type { JsonSchema } from '../schema/json-schema.js'
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../v1.schema.js'
import { customResourceDefinition } from '../v1.schema.js'
import { validateDefaults } from '../values/default-validation.js'
import { customKind } from './custom-kind.js'
import { structOfKind } from './pruning-schema.js'

const spec: JsonSchema = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 1, default: 3 },
    name: { type: 'string', nullable: true },
    tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    limits: { type: 'object', properties: { max: { type: 'integer', default: 10 } } },
  },
  'x-kubernetes-validations': [{ rule: 'self.size <= 5', message: 'too large' }],
}

const version = (name: string, more: Partial<CustomResourceDefinitionVersion> = {}): CustomResourceDefinitionVersion => ({
  name,
  served: true,
  storage: true,
  schema: {
    openAPIV3Schema: { type: 'object', properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } },
  },
  subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
  ...more,
})

const define = (versions: readonly CustomResourceDefinitionVersion[], generation = 1, conversion?: BatchConversion) =>
  customKind(
    {
      metadata: { name: 'boxes.example.com', generation },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'boxes', singular: 'box', kind: 'Box', listKind: 'BoxList' },
        versions,
      },
      status: { acceptedNames: { plural: 'boxes', singular: 'box', kind: 'Box', listKind: 'BoxList' } },
    } as CustomResourceDefinition,
    conversion,
  )

const kind = define([version('v1')])
const [onlyVersion] = kind.versions
const context = { ...testContext(), version: 'v1' }
const read = (value: object) => readValue(onlyVersion?.schema as never, value)
const object = (fields: object): ApiObject => ({ metadata: { name: 'b' }, ...fields }) as ApiObject
const errorsOf = (fields: object): readonly string[] =>
  (kind.validate?.(object(fields), context) ?? []).map(({ field, message }) => `${field}: ${message}`)

function ruleErrorsOf(fields: object, old?: object): readonly string[] {
  const work = kind.expressions?.(object(fields), old && object(old), context, [])
  let step = work?.next()
  while (step?.done === false) step = work?.next()
  return (step?.value ?? []).map(({ field, message }: { field: string; message: string }) => `${field}: ${message}`)
}

describe('a custom resource', () => {
  it('prunes and reports unknown fields, keeps x-kubernetes-preserve-unknown-fields', () => {
    const { value, report } = read({ spec: { size: 1, odd: 2, free: { a: [{ b: 1 }] } }, extra: 1 })
    assert.deepEqual(value, { spec: { size: 1, free: { a: [{ b: 1 }] } } })
    assert.deepEqual(report.unknown, [['spec', 'odd'], ['extra']])
  })

  it('keeps values of wrong types, drops null where it is not nullable', () => {
    assert.deepEqual(read({ spec: { size: 'x', name: null, tags: null } }).value, { spec: { size: 'x', name: null } })
  })

  it('writes null, zero and empty values that were sent', () => {
    const text = writeValue(onlyVersion?.schema as never, object({ spec: { size: 0, name: null, tags: [] } }))
    assert.equal(text, '{"metadata":{"name":"b","creationTimestamp":null},"spec":{"name":null,"size":0,"tags":[]}}')
  })

  it('writes metadata before other fields', () => {
    const open = structOfKind('Box', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
    const text = writeValue(open, { aaa: { uid: 'u' }, metadata: { name: 'b', uid: 'u' }, zzz: 1 })
    assert.equal(text, '{"metadata":{"name":"b","uid":"u","creationTimestamp":null},"aaa":{"uid":"u"},"zzz":1}')
  })

  it('sets defaults, nested ones if the parent exists', () => {
    assert.deepEqual(onlyVersion?.defaults?.(object({ spec: { limits: {} } }), context), object({ spec: { size: 3, limits: { max: 10 } } }))
    assert.deepEqual(onlyVersion?.defaults?.(object({ spec: { size: null } }), context), object({ spec: { size: 3 } }))
  })

  it('reports schema violations', () => {
    assert.deepEqual(errorsOf({ spec: { size: 0, tags: ['a', 'a'] } }), [
      'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
      'spec.tags[1]: Duplicate value: "a"',
    ])
    assert.deepEqual(errorsOf({ spec: { size: 'x' } }), [
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
      '.spec.size: Invalid value: 0: .spec.size accessor error: x is of the type string, expected int64',
    ])
  })

  it('evaluates CEL rules', () => {
    assert.deepEqual(ruleErrorsOf({ spec: { size: 5 } }), [])
    assert.deepEqual(ruleErrorsOf({ spec: { size: 6 } }), ['spec: Invalid value: "object": too large'])
  })

  it('evaluates CEL rules next to an enum error, not next to a type error', () => {
    const properties = { e: { type: 'string', enum: ['a'] } }
    const chosen = { type: 'object', properties, 'x-kubernetes-validations': [{ rule: 'self.e == "z"', message: 'no z' }] } as const
    const strict = define([version('v1', { schema: { openAPIV3Schema: { type: 'object', properties: { spec: chosen } } as never } })])
    const errorsFor = (e: unknown) => {
      const errors = strict.validate?.(object({ spec: { e } }), context) ?? []
      const work = strict.expressions?.(object({ spec: { e } }), undefined, context, errors)
      let step = work?.next()
      while (step?.done === false) step = work?.next()
      return step?.value?.map(({ message }) => message)
    }
    assert.deepEqual(errorsFor('b'), ['Invalid value: "object": no z'])
    assert.match(String(errorsFor(1)), /some validation rules were not checked/)
  })

  it('validates the whole object on a status update', () => {
    const status = { type: 'object', required: ['n'], properties: { n: { type: 'integer' }, l: spec.properties?.['tags'] } } as const
    const strict = define([version('v1', { schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } as never } })])
    const write = strict.subresources?.find(({ name }) => name === 'status')
    const errorsFor = (fields: object, old: object) =>
      write?.validateUpdate?.(object(fields), object(old), context).map(({ field, message }) => `${field}: ${message}`)
    // The stored object is older than its schema.
    const stale = { spec: { size: 'x', tags: ['a', 'a'] } }
    const wrongSpec = 'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'
    assert.deepEqual(errorsFor({ ...stale, status: { n: 1 } }, stale), [wrongSpec])
    assert.deepEqual(errorsFor({ ...stale, status: { n: 'x' } }, stale), [
      wrongSpec,
      'status.n: Invalid value: "string": status.n in body must be of type integer: "string"',
    ])
    assert.deepEqual(errorsFor({ ...stale, status: {} }, stale), [wrongSpec, 'status.n: Required value'])
    const validBox = { spec: { size: 1 } }
    assert.deepEqual(errorsFor(validBox, validBox), [])
    assert.deepEqual(errorsFor({ ...validBox, status: { n: 1, l: ['b', 'b'] } }, validBox), ['status.l[1]: Duplicate value: "b"'])
  })

  it('validates the requested version, also of a kind with a conversion webhook', () => {
    const width = { type: 'object', properties: { spec: { type: 'object', properties: { width: { type: 'integer' } } } } } as const
    const other = version('v2', { storage: false, schema: { openAPIV3Schema: width } })
    for (const conversion of [undefined, async (objects: readonly ApiObject[]) => objects]) {
      const served = define([version('v1'), other], 1, conversion)
      assert.equal(served.validatesRequestVersion, true)
      const errorsFor = (fields: object, requested: string) =>
        served.validate?.(object(fields), { ...context, version: requested }).map(({ field, message }) => `${field}: ${message}`)
      const typeErrors = ['spec.width: Invalid value: "string": spec.width in body must be of type integer: "string"']
      assert.deepEqual(errorsFor({ spec: { width: 'x' } }, 'v2'), typeErrors)
      assert.deepEqual(errorsFor({ spec: { width: 3 } }, 'v2'), [])
      assert.deepEqual(errorsFor({ spec: { width: 3 } }, 'v1'), ['spec.size: Required value'])
    }
    // Stored objects get the current schema in the version that needs no conversion.
    const rewritten = define([version('v1'), other], 2, async (objects) => objects)
    const [stored, shown] = rewritten.versions
    assert.deepEqual(stored?.fromStored?.(object({ spec: { more: 1 } }), context.identity), object({ spec: { size: 3 } }))
    assert.equal(shown?.fromStored, undefined)
  })

  it('evaluates CEL rules on the requested version', () => {
    const rule = { rule: 'self.apiVersion == "example.com/v2" && self.kind == "Box"' }
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-validations': [rule] } }
    const both = define([version('v1'), version('v2', { storage: false, schema })])
    const work = both.expressions?.(object({ spec: { size: 1 } }), undefined, { ...context, version: 'v2' }, [])
    let step = work?.next()
    while (step?.done === false) step = work?.next()
    assert.deepEqual(step?.value, [])
  })

  it('accepts duplicates that the old object has', () => {
    const errorsFor = (fields: object, old: object) =>
      kind.validateUpdate?.(object(fields), object(old), context).map(({ field, message }) => `${field}: ${message}`)
    const doubled = { spec: { size: 1, tags: ['a', 'a'] } }
    assert.deepEqual(errorsFor(doubled, { spec: { size: 1 } }), ['spec.tags[1]: Duplicate value: "a"'])
    assert.deepEqual(errorsFor({ spec: { size: 2, tags: ['a', 'a', 'b', 'b'] } }, doubled), [])
  })

  it('keeps the status on update, and other changes increase the generation', () => {
    const old = { ...object({ spec: { size: 1 }, status: { size: 1 } }), metadata: { name: 'b', generation: 4 } } as ApiObject
    const next = { ...object({ spec: { size: 2 }, status: { size: 9 } }), metadata: { name: 'b', generation: 4 } } as ApiObject
    const updated = kind.prepareUpdate?.(next, old, context) as ApiObject & { status: unknown }
    assert.deepEqual([updated.status, updated.metadata?.generation], [{ size: 1 }, 5])
    const status = kind.subresources?.find(({ name }) => name === 'status')?.prepareUpdate(next, old, context)
    assert.deepEqual(status, { ...old, status: { size: 9 } })
  })

  it('reads and writes Scale at the paths of the CRD', () => {
    const scale = kind.subresources?.find(({ name }) => name === 'scale')?.view
    const box = object({ spec: { size: 2 }, status: { size: 1 } })
    assert.deepEqual(scale?.read(box), { metadata: { name: 'b' }, spec: { replicas: 2 }, status: { replicas: 1 } })
    assert.deepEqual(scale?.write({ spec: { replicas: 4 } } as ApiObject, box, context), object({ spec: { size: 4 }, status: { size: 1 } }))
    assert.equal(scale?.refusal?.(box), undefined)
  })

  it('has no Scale without replicas, until they are set', () => {
    const scale = kind.subresources?.find(({ name }) => name === 'scale')?.view
    const unsized = object({ spec: {} })
    assert.equal(scale?.refusal?.(unsized), 'the spec replicas field ".spec.size" does not exist')
    const write = (view: object, box: ApiObject): unknown => scale?.write(view as ApiObject, box, context)
    assert.throws(() => write({ spec: {} }, unsized), /the spec replicas field "\.spec\.size" cannot be empty/)
    assert.deepEqual(write({ spec: { replicas: 4 } }, unsized), object({ spec: { size: 4 } }))
    assert.deepEqual(write({ spec: {} }, object({ spec: { size: 3 } })), object({ spec: { size: 0 } }))
    const odd = object({ spec: { size: 'many' } })
    assert.equal(scale?.refusal?.(odd), '.spec.size accessor error: many is of the type string, expected int64')
    assert.throws(() => write({ spec: { replicas: 4 } }, odd), /accessor error/)
  })

  it('rejects invalid replica counts in spec and status', () => {
    const paths = { specReplicasPath: '.spec.free.n', statusReplicasPath: '.status.n', labelSelectorPath: '.status.pods' }
    const scaled = define([version('v1', { subresources: { status: {}, scale: paths } })])
    const box = (n: unknown, status: object = {}) => object({ spec: { size: 1, free: { n } }, status })
    const shown = (errors: readonly { readonly field: string; readonly message: string }[] | undefined) =>
      errors?.map(({ field, message }) => `${field}: ${message}`)
    const errorsFor = (n: unknown, status: object = {}) => shown(scaled.validate?.(box(n, status), context))
    assert.deepEqual(errorsFor(2 ** 31 - 1, { n: 0, pods: 'a=b' }), [])
    assert.deepEqual(errorsFor(2 ** 31), ['.spec.free.n: Invalid value: 2147483648: should be less than or equal to 2147483647'])
    assert.deepEqual(errorsFor(-1), ['.spec.free.n: Invalid value: -1: should be a non-negative integer'])
    assert.deepEqual(errorsFor('x', { n: -2, pods: 3 }), [
      '.spec.free.n: Invalid value: 0: .spec.free.n accessor error: x is of the type string, expected int64',
      '.status.n: Invalid value: -2: should be a non-negative integer',
      '.status.pods: Invalid value: "": .status.pods accessor error: 3 is of the type int64, expected string',
    ])
    const float = '.spec.free.n: Invalid value: 0: .spec.free.n accessor error: 1e+21 is of the type float64, expected int64'
    assert.deepEqual(errorsFor(1e21), [float])
    assert.deepEqual(shown(scaled.validate?.(object({ spec: 1, status: { n: 1 } }), context)), [
      'spec: Invalid value: "integer": spec in body must be of type object: "integer"',
      '.spec.free.n: Invalid value: 0: .spec.free accessor error: 1 is of the type int64, expected object',
    ])
    const status = scaled.subresources?.find(({ name }) => name === 'status')
    const invalidBox = box(-1, { n: -2 })
    assert.deepEqual(shown(status?.validateUpdate?.(invalidBox, invalidBox, context)), [
      '.status.n: Invalid value: -2: should be a non-negative integer',
    ])
  })

  it('has additionalPrinterColumns', () => {
    const shown = define([
      version('v1', {
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Bad', type: 'string', jsonPath: '.spec[' },
          { name: 'Behind', type: 'string', jsonPath: '.spec' },
        ],
      }),
    ])
    const box = object({ spec: { size: 2 }, status: { conditions: [{ type: 'Ready', status: 'True' }] } })
    assert.deepEqual(
      shown.table?.columns.map(({ name }) => name),
      ['Name', 'Size', 'Ready'],
    )
    assert.deepEqual(shown.table?.cells(box, context), ['b', 2, 'True'])
  })

  it('warns about deprecated versions and names a replacement', () => {
    const warned = define([version('v1'), version('v1beta1', { storage: false, deprecated: true })])
    assert.equal(warned.versions[1]?.deprecation?.warning, 'example.com/v1beta1 Box is deprecated; use example.com/v1 Box')
  })

  it('applies the current schema to objects stored before the CRD changed', () => {
    assert.equal(onlyVersion?.fromStored, undefined)
    const [changed] = define([version('v1')], 2).versions
    assert.deepEqual(changed?.fromStored?.(object({ spec: { gone: 1 } }), undefined as never), object({ spec: { size: 3 } }))
  })
})

describe('the status of a custom resource', () => {
  it('is updated alone, and its field manager owns it', () => {
    const status = kind.subresources?.find(({ name }) => name === 'status')
    const old = object({ metadata: { name: 'b', labels: { l: '1' } }, spec: { size: 1 } })
    const managedFields = [{ manager: 'm', subresource: 'status' }]
    const next = object({ metadata: { name: 'b', labels: { l: '2' }, managedFields }, spec: { size: 2 }, status: { size: 3 } })
    assert.deepEqual(status?.prepareUpdate(next, old, context), {
      metadata: { name: 'b', labels: { l: '1' }, managedFields },
      spec: { size: 1 },
      status: { size: 3 },
    })
  })
})

describe('values of wrong types', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      ports: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['n'], items: { type: 'object' } },
      template: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      size: { type: 'integer', default: null },
    },
  }
  const strictKind = define([version('v1', { schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } } })])

  it('are reported for items of map lists that are not objects', () => {
    const errors = strictKind.validate?.(object({ spec: { ports: [{ n: 1 }, 'x'] } }), context) ?? []
    assert.deepEqual(
      errors.map(({ reason, field }) => `${field} ${reason}`),
      ['spec.ports[1] FieldValueTypeInvalid', 'spec.ports[1] FieldValueInvalid'],
    )
  })

  it('are rejected as apiVersion and kind of an embedded resource', () => {
    assert.throws(
      () => readValue(strictKind.versions[0]?.schema as never, object({ spec: { template: { apiVersion: 5, kind: 'Pod' } } })),
      /apiVersion/,
    )
  })

  it('are not replaced by a null default', () => {
    assert.deepEqual(strictKind.versions[0]?.defaults?.(object({ spec: {} }), context), object({ spec: {} }))
    assert.deepEqual(validateDefaults(schema, 'x'), [])
  })
})

describe('JSON paths of printer columns', () => {
  const data = {
    name: 'alpha',
    list: ['a', 'b', 'c'],
    empty: '',
    map: { k: 'v' },
    'dotted.key': 'd',
    objects: [
      { name: 'n1', port: 80 },
      { name: 'n2', port: 443 },
    ],
  }
  const rows: readonly (readonly [path: string, ...expected: unknown[]])[] = [
    ['.name', 'alpha'],
    ['.name} and {.list', 'alpha'],
    ['$.name', 'alpha'],
    ['.', ...[]],
    ['name', ...[]],
    ['.list[]', 'a'],
    ['.list[-1]', 'c'],
    ['.list[0:2]', 'a', 'b'],
    ['.list[::2]', 'a', 'c'],
    ['.list[2,0]', 'c', 'a'],
    ['.list[7,0]', ...[]],
    ['.list[7]', ...[]],
    ['.map[*]', ...[]],
    ['.map.*', 'v'],
    ['.dotted\\.key', 'd'],
    ["['name']", 'alpha'],
    ["'text'", 'text'],
    ['..name', 'n1', 'n2', 'alpha'],
    ['.objects[?(@.port==443)].name', 'n2'],
    ['.objects[?(@.port==80.0)].name', ...[]],
    ['.objects[?(@.port="80")].name', ...[]],
    ['.objects[?(@.gone)].name', ...[]],
    ['.objects[?(@.port)].name', 'n1', 'n2'],
    ['range .list[*]', ...[]],
  ]
  for (const [path, ...expected] of rows) it(path, () => assert.deepEqual(new Set(compileJsonPath(path)(data)), new Set(expected)))

  for (const path of ['.list[', '.list[x]', '.list["a"]', '.a....b', '.objects[?(@.port', "'open", '#', '..*', 'x'.repeat(5000)])
    it(`${path.slice(0, 20)} is rejected`, () => assert.throws(() => compileJsonPath(path), JsonPathError))
})

describe('hostile CRDs', () => {
  it('are read in time linear in their depth', () => {
    const nested = (depth: number): object => (depth === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(depth - 1) } })
    const crd = {
      metadata: { name: 'x' },
      spec: { group: 'g', versions: [{ name: 'v1', schema: { openAPIV3Schema: nested(100) } }] },
    }
    assert.deepEqual((readBackFields(customResourceDefinition, crd) as { spec: { versions: unknown } }).spec.versions, [
      { name: 'v1', served: false, storage: false, schema: { openAPIV3Schema: nested(100) } },
    ])
  })

  it('have columns that visit a limited number of values', () => {
    let value: object = {}
    for (let i = 0; i < 60; i++) value = { a: value }
    assert.equal(compileJsonPath(`.spec${'..a'.repeat(8)}`)({ spec: value }).length, 10_000)
  })

  it('share a budget of values per row, and show null beyond it', () => {
    let value: unknown = 1
    for (let i = 0; i < 100; i++) value = { a: value }
    const paths = Array.from({ length: 20 }, () => compileJsonPath('.spec..a..a'))
    const budget = new PathBudget()
    const counts = paths.map((find) => find({ spec: value }, budget).length)
    assert.ok((counts[0] as number) > 0)
    assert.ok(counts.slice(10).every((count) => count === 0))
    assert.deepEqual(compileJsonPath('.list[?(@.b)]')({ list: Array.from({ length: 60_000 }, () => ({ a: 1 })) }, new PathBudget()), [])
    assert.deepEqual(compileJsonPath('.spec.a.x')({ spec: { a: { x: 5 } } }, new PathBudget()), [5])
  })
})
