// Custom kinds as they come out of their definitions: reading, defaults, validation, versions, tables and scales.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BatchConversion } from '../../../api/conversion.js'
import type { ApiObject } from '../../../api/object.js'
import { testContext } from '../../../api/rule-context.fixture.js'
import { readValue } from '../../../schema/read.js'
import { readBackFields } from '../../../schema/read-back.js'
import { writeValue } from '../../../schema/write.js'
import type { JsonSchema } from '../json-schema.js'
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../v1.schema.js'
import { customResourceDefinition } from '../v1.schema.js'
import { validateDefaults } from '../values/default-rules.js'
import { customKind } from './custom-kind.js'
import { structOfKind } from './custom-schema.js'
import { compileJsonPath, PathRoom } from './json-path.js'
import { JsonPathError } from './json-path-syntax.js'

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
const [only] = kind.versions
const context = { ...testContext(), version: 'v1' }
const read = (value: object) => readValue(only?.schema as never, value)
const object = (own: object): ApiObject => ({ metadata: { name: 'b' }, ...own }) as ApiObject
const errorsOf = (own: object): readonly string[] =>
  (kind.validate?.(object(own), context) ?? []).map(({ field, message }) => `${field}: ${message}`)

function rulesOf(own: object, old?: object): readonly string[] {
  const work = kind.expressions?.(object(own), old && object(old), context, [])
  let step = work?.next()
  while (step?.done === false) step = work?.next()
  return (step?.value ?? []).map(({ field, message }: { field: string; message: string }) => `${field}: ${message}`)
}

describe('a custom kind', () => {
  it('drops and reports what its schema does not know, and keeps what it keeps', () => {
    const { value, report } = read({ spec: { size: 1, odd: 2, free: { a: [{ b: 1 }] } }, extra: 1 })
    assert.deepEqual(value, { spec: { size: 1, free: { a: [{ b: 1 }] } } })
    assert.deepEqual(report.unknown, [['spec', 'odd'], ['extra']])
  })

  it('reads values of other types as they are, and leaves out null where it is none', () => {
    assert.deepEqual(read({ spec: { size: 'x', name: null, tags: null } }).value, { spec: { size: 'x', name: null } })
  })

  it('writes null, zero and empty values that were sent', () => {
    const text = writeValue(only?.schema as never, object({ spec: { size: 0, name: null, tags: [] } }))
    assert.equal(text, '{"metadata":{"name":"b","creationTimestamp":null},"spec":{"name":null,"size":0,"tags":[]}}')
  })

  it('writes metadata before whatever else an object keeps', () => {
    const open = structOfKind('Box', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
    const text = writeValue(open, { aaa: { uid: 'u' }, metadata: { name: 'b', uid: 'u' }, zzz: 1 })
    assert.equal(text, '{"metadata":{"name":"b","uid":"u","creationTimestamp":null},"aaa":{"uid":"u"},"zzz":1}')
  })

  it('fills in defaults, nested ones where there is something to nest in', () => {
    assert.deepEqual(only?.defaults?.(object({ spec: { limits: {} } }), context), object({ spec: { size: 3, limits: { max: 10 } } }))
    assert.deepEqual(only?.defaults?.(object({ spec: { size: null } }), context), object({ spec: { size: 3 } }))
  })

  it('says what is wrong with values', () => {
    assert.deepEqual(errorsOf({ spec: { size: 0, tags: ['a', 'a'] } }), [
      'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
      'spec.tags[1]: Duplicate value: "a"',
    ])
    assert.deepEqual(errorsOf({ spec: { size: 'x' } }), [
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
      '.spec.size: Invalid value: 0: .spec.size accessor error: x is of the type string, expected int64',
    ])
  })

  it('asks its rules', () => {
    assert.deepEqual(rulesOf({ spec: { size: 5 } }), [])
    assert.deepEqual(rulesOf({ spec: { size: 6 } }), ['spec: Invalid value: "object": too large'])
  })

  it('holds the status alone against its own schema where the status is written', () => {
    const status = { type: 'object', required: ['n'], properties: { n: { type: 'integer' }, l: spec.properties?.['tags'] } } as const
    const strict = define([version('v1', { schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } as never } })])
    const write = strict.subresources?.find(({ name }) => name === 'status')
    const found = (own: object, old: object) =>
      write?.validateUpdate?.(object(own), object(old), context).map(({ field, message }) => `${field}: ${message}`)
    // What is stored is older than its schema.
    const stale = { spec: { size: 'x', tags: ['a', 'a'] } }
    assert.deepEqual(found({ ...stale, status: { n: 1 } }, stale), [])
    assert.deepEqual(found(stale, stale), [])
    const wrong = ['status.n: Invalid value: "string": n in body must be of type integer: "string"']
    assert.deepEqual(found({ ...stale, status: { n: 'x' } }, stale), wrong)
    assert.deepEqual(found({ ...stale, status: {} }, stale), ['status.n: Required value'])
    assert.deepEqual(found({ ...stale, status: 'x' }, stale), [
      'status: Invalid value: "string":  in body must be of type object: "string"',
    ])
    const fine = { spec: { size: 1 } }
    assert.deepEqual(found({ ...fine, status: { n: 1, l: ['b', 'b'] } }, fine), ['status.l[1]: Duplicate value: "b"'])
  })

  it('checks what somebody else will convert in the version in which it was sent', () => {
    const width = { type: 'object', properties: { spec: { type: 'object', properties: { width: { type: 'integer' } } } } } as const
    const other = version('v2', { storage: false, schema: { openAPIV3Schema: width } })
    const converted = define([version('v1'), other], 1, async (objects) => objects)
    const found = (own: object, subresource = '') =>
      converted.validateSent?.(object(own), { ...context, version: 'v2' }, subresource).map(({ field, message }) => `${field}: ${message}`)
    const wrong = ['spec.width: Invalid value: "string": spec.width in body must be of type integer: "string"']
    assert.deepEqual(found({ spec: { width: 'x' } }), wrong)
    assert.deepEqual(found({ spec: { width: 'x' } }, 'status'), [])
    assert.deepEqual(found({ spec: { width: 3 }, status: { size: 1 } }), [])
    assert.equal(kind.validateSent, undefined)
    // What is older than the schema is shown as the schema has it, in the version that needs no conversion.
    const rewritten = define([version('v1'), other], 2, async (objects) => objects)
    const [stored, shown] = rewritten.versions
    assert.deepEqual(stored?.fromStored?.(object({ spec: { more: 1 } }), context.identity), object({ spec: { size: 3 } }))
    assert.equal(shown?.fromStored, undefined)
  })

  it('asks its rules about an object of the version in which it was sent', () => {
    const rule = { rule: 'self.apiVersion == "example.com/v2" && self.kind == "Box"' }
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-validations': [rule] } }
    const both = define([version('v1'), version('v2', { storage: false, schema })])
    const found = both.expressions?.(object({ spec: { size: 1 } }), undefined, { ...context, version: 'v2' }, [])
    let step = found?.next()
    while (step?.done === false) step = found?.next()
    assert.deepEqual(step?.value, [])
  })

  it('lets items be the same that were so before', () => {
    const found = (own: object, old: object) =>
      kind.validateUpdate?.(object(own), object(old), context).map(({ field, message }) => `${field}: ${message}`)
    const doubled = { spec: { size: 1, tags: ['a', 'a'] } }
    assert.deepEqual(found(doubled, { spec: { size: 1 } }), ['spec.tags[1]: Duplicate value: "a"'])
    assert.deepEqual(found({ spec: { size: 2, tags: ['a', 'a', 'b', 'b'] } }, doubled), [])
  })

  it('keeps the status for its subresource, and counts changes of the rest', () => {
    const old = { ...object({ spec: { size: 1 }, status: { size: 1 } }), metadata: { name: 'b', generation: 4 } } as ApiObject
    const next = { ...object({ spec: { size: 2 }, status: { size: 9 } }), metadata: { name: 'b', generation: 4 } } as ApiObject
    const updated = kind.prepareUpdate?.(next, old, context) as ApiObject & { status: unknown }
    assert.deepEqual([updated.status, updated.metadata?.generation], [{ size: 1 }, 5])
    const status = kind.subresources?.find(({ name }) => name === 'status')?.prepareUpdate(next, old, context)
    assert.deepEqual(status, { ...old, status: { size: 9 } })
  })

  it('scales by its paths', () => {
    const scale = kind.subresources?.find(({ name }) => name === 'scale')?.view
    const box = object({ spec: { size: 2 }, status: { size: 1 } })
    assert.deepEqual(scale?.read(box), { metadata: { name: 'b' }, spec: { replicas: 2 }, status: { replicas: 1 } })
    assert.deepEqual(scale?.write({ spec: { replicas: 4 } } as ApiObject, box, context), object({ spec: { size: 4 }, status: { size: 1 } }))
    assert.equal(scale?.refusal?.(box), undefined)
  })

  it('has no scale where it says no number, until somebody says one', () => {
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

  it('refuses sizes that are none, in the spec and in the status', () => {
    const paths = { specReplicasPath: '.spec.free.n', statusReplicasPath: '.status.n', labelSelectorPath: '.status.pods' }
    const scaled = define([version('v1', { subresources: { status: {}, scale: paths } })])
    const box = (n: unknown, status: object = {}) => object({ spec: { size: 1, free: { n } }, status })
    const shown = (errors: readonly { readonly field: string; readonly message: string }[] | undefined) =>
      errors?.map(({ field, message }) => `${field}: ${message}`)
    const found = (n: unknown, status: object = {}) => shown(scaled.validate?.(box(n, status), context))
    assert.deepEqual(found(2 ** 31 - 1, { n: 0, pods: 'a=b' }), [])
    assert.deepEqual(found(2 ** 31), ['.spec.free.n: Invalid value: 2147483648: should be less than or equal to 2147483647'])
    assert.deepEqual(found(-1), ['.spec.free.n: Invalid value: -1: should be a non-negative integer'])
    assert.deepEqual(found('x', { n: -2, pods: 3 }), [
      '.spec.free.n: Invalid value: 0: .spec.free.n accessor error: x is of the type string, expected int64',
      '.status.n: Invalid value: -2: should be a non-negative integer',
      '.status.pods: Invalid value: "": .status.pods accessor error: 3 is of the type int64, expected string',
    ])
    const status = scaled.subresources?.find(({ name }) => name === 'status')
    const bad = box(-1, { n: -2 })
    assert.deepEqual(shown(status?.validateUpdate?.(bad, bad, context)), ['.status.n: Invalid value: -2: should be a non-negative integer'])
  })

  it('shows columns of its own', () => {
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

  it('warns of versions that will go, and names a better one', () => {
    const warned = define([version('v1'), version('v1beta1', { storage: false, deprecated: true })])
    assert.equal(warned.versions[1]?.deprecation?.warning, 'example.com/v1beta1 Box is deprecated; use example.com/v1 Box')
  })

  it('reads what was stored before its definition changed by what it says now', () => {
    assert.equal(only?.fromStored, undefined)
    const [changed] = define([version('v1')], 2).versions
    assert.deepEqual(changed?.fromStored?.(object({ spec: { gone: 1 } }), undefined as never), object({ spec: { size: 3 } }))
  })
})

describe('the status of a custom object', () => {
  it('is written alone, and whoever wrote it owns it', () => {
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

describe('values that fit nowhere', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      ports: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['n'], items: { type: 'object' } },
      template: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      size: { type: 'integer', default: null },
    },
  }
  const own = define([version('v1', { schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } } })])

  it('are told where items of keyed lists are no objects', () => {
    const errors = own.validate?.(object({ spec: { ports: [{ n: 1 }, 'x'] } }), context) ?? []
    assert.deepEqual(
      errors.map(({ reason, field }) => `${field} ${reason}`),
      ['spec.ports[1] FieldValueTypeInvalid', 'spec.ports[1] FieldValueInvalid'],
    )
  })

  it('are not read where they should say what an embedded object is', () => {
    assert.throws(
      () => readValue(own.versions[0]?.schema as never, object({ spec: { template: { apiVersion: 5, kind: 'Pod' } } })),
      /apiVersion/,
    )
  })

  it('are not filled in for a default of null', () => {
    assert.deepEqual(own.versions[0]?.defaults?.(object({ spec: {} }), context), object({ spec: {} }))
    assert.deepEqual(validateDefaults(schema, 'x'), [])
  })
})

describe('paths of columns', () => {
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
  const rows: readonly (readonly [path: string, ...found: unknown[]])[] = [
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
  for (const [path, ...found] of rows) it(path, () => assert.deepEqual(new Set(compileJsonPath(path)(data)), new Set(found)))

  for (const path of ['.list[', '.list[x]', '.list["a"]', '.a....b', '.objects[?(@.port', "'open", '#', '..*', 'x'.repeat(5000)])
    it(`${path.slice(0, 20)} is none`, () => assert.throws(() => compileJsonPath(path), JsonPathError))
})

describe('hostile definitions', () => {
  it('are read back in time that grows with their depth, and not with its power', () => {
    const nested = (depth: number): object => (depth === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(depth - 1) } })
    const definition = {
      metadata: { name: 'x' },
      spec: { group: 'g', versions: [{ name: 'v1', schema: { openAPIV3Schema: nested(100) } }] },
    }
    assert.deepEqual((readBackFields(customResourceDefinition, definition) as { spec: { versions: unknown } }).spec.versions, [
      { name: 'v1', served: false, storage: false, schema: { openAPIV3Schema: nested(100) } },
    ])
  })

  it('have columns that look at no more than some values', () => {
    let value: object = {}
    for (let i = 0; i < 60; i++) value = { a: value }
    assert.equal(compileJsonPath(`.spec${'..a'.repeat(8)}`)({ spec: value }).length, 10_000)
  })

  it('have room for so many values together, and show nothing behind that', () => {
    let value: unknown = 1
    for (let i = 0; i < 100; i++) value = { a: value }
    const paths = Array.from({ length: 20 }, () => compileJsonPath('.spec..a..a'))
    const room = new PathRoom()
    const found = paths.map((find) => find({ spec: value }, room).length)
    assert.ok((found[0] as number) > 0)
    assert.deepEqual(
      found.slice(10),
      Array.from({ length: 10 }, () => 0),
    )
    assert.deepEqual(compileJsonPath('.list[?(@.b)]')({ list: Array.from({ length: 60_000 }, () => ({ a: 1 })) }, new PathRoom()), [])
    assert.deepEqual(compileJsonPath('.spec.a.x')({ spec: { a: { x: 5 } } }, new PathRoom()), [5])
  })
})
