// Whole documents: their structure, the names in them, custom kinds, and how they are kept.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Catalog } from '../../api/catalog.js'
import { identityOf } from '../../api/identity.js'
import { describeType } from '../../resources/descriptions/describe-type.js'
import { definitions as builtIn } from '../../resources/index.js'
import { blueprintOf, drawBlueprint } from './blueprint.js'
import { checkDocument, type Json } from './check-document.fixture.js'
import { completeSchema } from './custom-schemas.js'
import { type KeptDocument, type OpenApiDocuments, openApiDocuments } from './documents.js'
import { hashOf, joinParts, packShort } from './packed-part.js'
import { gadget, plain, thingsBlueprint, thingsCatalog, widget } from './things.fixture.js'
import { renderShared, renderUnit } from './unit.js'
import { documentV2, documentV3, sourcesByDocument } from './whole-document.fixture.js'

const blueprint = thingsBlueprint()
const v2 = documentV2(blueprint)
const v3 = new Map([...sourcesByDocument(blueprint)].map(([name, sources]) => [name, documentV3(blueprint, sources)]))
const schemasOf = (document: Json | undefined): Json => ((document?.['components'] as Json | undefined)?.['schemas'] ?? {}) as Json

describe('the structure', () => {
  test('of version 2', () => assert.deepEqual(checkDocument(v2), []))
  for (const [name, document] of v3) test(`of ${name}`, () => assert.deepEqual(checkDocument(document), []))

  test('of everything that this server has', () => {
    const catalog = new Catalog({ identity: identityOf('kubernetes'), definitions: builtIn, isServed: () => true })
    const whole = blueprintOf(catalog, { describe: describeType, release: 'v1.26.8' })
    assert.deepEqual(checkDocument(documentV2(whole)), [])
    for (const sources of sourcesByDocument(whole).values()) assert.deepEqual(checkDocument(documentV3(whole, sources)), [])
  })

  test('is found wanting where it is', () => {
    const broken = { ...v2, definitions: {} }
    assert.ok(checkDocument(broken).some((problem) => problem.includes('refers to #/definitions/')))
    assert.deepEqual(checkDocument({ ...v2, paths: { '/x/{name}': { get: { operationId: 'a', responses: { 200: {} } } } } }), [
      '/x/{name} get 200 must have description',
      '/x/{name} get has the path parameters ',
    ])
  })
})

test('version 2 has everything, version 3 the documents of each version of a group', () => {
  assert.deepEqual(Object.keys(v2), ['swagger', 'info', 'paths', 'definitions', 'securityDefinitions', 'security'])
  assert.deepEqual(v2['info'], { title: 'Cluster', version: 'v1.26.8' })
  assert.deepEqual([...v3.keys()].sort(), [
    'api',
    'api/v1',
    'apis',
    'apis/shop.example.com/v1beta1',
    'apis/small.things.cluster.io',
    'apis/small.things.cluster.io/v1',
    'logs',
    'openid/v1/jwks',
    'version',
  ])
})

test('types are called after the identity', () => {
  assert.ok('io.k8s.api.things.v1.Thing' in schemasOf(v3.get('apis/small.things.cluster.io/v1')))
  const kubernetes = thingsBlueprint('kubernetes')
  const names = Object.keys(documentV2(kubernetes)['definitions'] as Json)
  assert.ok(names.includes('io.k8s.api.things.v1.Thing'))
  assert.ok(names.includes('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'))
  assert.ok(names.includes('com.example.shop.v1beta1.Widget'))
  assert.equal(
    names.find((name) => name.includes('cluster')),
    undefined,
  )
})

test('types say as which kinds they are sent', () => {
  const definitions = v2['definitions'] as { readonly [name: string]: Json }
  const kindsOf = (name: string): unknown => definitions[name]?.['x-kubernetes-group-version-kind']
  assert.deepEqual(kindsOf('io.k8s.api.things.v1.Thing'), [{ group: 'small.things.cluster.io', version: 'v1', kind: 'Thing' }])
  assert.deepEqual(kindsOf('io.k8s.api.things.v1.ThingList'), [{ group: 'small.things.cluster.io', version: 'v1', kind: 'ThingList' }])
  assert.deepEqual(kindsOf('io.k8s.api.autoscaling.v1.Scale'), [{ group: 'autoscaling', version: 'v1', kind: 'Scale' }])
  assert.deepEqual(kindsOf('io.k8s.api.things.v1.Opening'), [{ group: 'doors.cluster.io', version: 'v2', kind: 'Opening' }])
  assert.deepEqual(kindsOf('io.k8s.api.things.v1.ThingSpec'), undefined)
  assert.deepEqual(kindsOf('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'), [
    { group: 'small.things.cluster.io', version: 'v1', kind: 'DeleteOptions' },
    { group: '', version: 'v1', kind: 'DeleteOptions' },
    { group: 'apiregistration.cluster.io', version: 'v1', kind: 'DeleteOptions' },
  ])
})

test('a list has its items, and must have them unless the kind says otherwise', () => {
  const definitions = v2['definitions'] as { readonly [name: string]: Json }
  assert.deepEqual(definitions['io.k8s.api.things.v1.ThingList']?.['required'], ['items'])
  assert.equal(definitions['io.k8s.api.things.v1.BoxList']?.['required'], undefined)
})

test('a body is required by version 2 where there is nothing to do without', () => {
  const paths = v2['paths'] as { readonly [path: string]: { readonly [method: string]: { readonly parameters: readonly Json[] } } }
  const bodyOf = (method: string): Json | undefined =>
    paths['/apis/small.things.cluster.io/v1/namespaces/{namespace}/things/{name}']?.[method]?.parameters.find(
      (parameter) => parameter['in'] === 'body',
    )
  assert.deepEqual(bodyOf('put'), {
    name: 'body',
    in: 'body',
    required: true,
    schema: { $ref: '#/definitions/io.k8s.api.things.v1.Thing' },
  })
  assert.equal(bodyOf('delete')?.['required'], undefined)
})

describe('a custom kind', () => {
  const propertiesOf = (schema: Json | undefined) => (schema?.['properties'] ?? {}) as { readonly [name: string]: Json }
  const metadata = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
  const kind = [{ group: 'shop.example.com', version: 'v1beta1', kind: 'Widget' }]
  const typeMeta = {
    apiVersion: { type: 'string', description: 'TypeMeta apiVersion' },
    kind: { type: 'string', description: 'TypeMeta kind' },
  }

  test('is published in version 3 as its author wrote it', () => {
    const schema = schemasOf(v3.get('apis/shop.example.com/v1beta1'))['com.example.shop.v1beta1.Widget'] as Json
    assert.equal(schema['description'], 'A widget.')
    assert.deepEqual(schema['x-kubernetes-group-version-kind'], kind)
    const { spec, sure: _, ...others } = schema['properties'] as { readonly [name: string]: Json }
    assert.deepEqual(others, { ...typeMeta, metadata: { $ref: `#/components/schemas/${metadata}` } })
    assert.equal(spec?.['nullable'], true)
    const { size, whole } = propertiesOf(spec)
    assert.deepEqual(size, { 'x-kubernetes-int-or-string': true, default: 3, anyOf: [{ type: 'integer' }, { type: 'string' }] })
    assert.deepEqual(whole?.['required'], ['kind', 'apiVersion'])
    assert.deepEqual(Object.keys(propertiesOf(whole)), ['data', 'apiVersion', 'kind', 'metadata'])
  })

  test('is published in version 2 so that nothing is refused that the server takes', () => {
    const schema = (v2['definitions'] as Json)['com.example.shop.v1beta1.Widget'] as Json
    const { spec, sure } = schema['properties'] as { readonly [name: string]: Json }
    assert.deepEqual(spec, {}, 'what may be null is anything')
    assert.deepEqual(sure?.['required'], ['a'])
    const { whole, ...others } = propertiesOf(sure)
    assert.deepEqual(others, {
      a: { 'x-kubernetes-int-or-string': true, default: 3 },
      b: { maxLength: 3 },
      list: { 'x-kubernetes-preserve-unknown-fields': true },
      open: { 'x-kubernetes-preserve-unknown-fields': true },
    })
    assert.deepEqual(whole?.['required'], ['kind', 'apiVersion'])
    assert.deepEqual(propertiesOf(whole)['metadata'], { $ref: `#/definitions/${metadata}` })
  })

  test('that keeps everything has no fields in version 2', () => {
    const said = { 'x-kubernetes-preserve-unknown-fields': true, properties: {} }
    const reading = { describe: () => undefined, schemaOf: () => ({}) }
    assert.deepEqual(completeSchema(said, 2, reading), { type: 'object' })
    assert.deepEqual(Object.keys(completeSchema(said, 3, reading)['properties'] as Json), ['apiVersion', 'kind', 'metadata'])
  })
})

describe('documents that are kept', () => {
  const textOf = async ({ compressed }: KeptDocument): Promise<string> => gunzipSync(await compressed()).toString()
  const source = { describe: () => undefined, release: 'v1.26.8' }
  const catalog = thingsCatalog()

  test('are built once, also for those who ask at the same time', async () => {
    const documents = openApiDocuments(source)
    const [first, second] = await Promise.all([documents.v2({ catalog }, 'json'), documents.v2({ catalog }, 'json')])
    assert.equal(first, second)
    assert.deepEqual(JSON.parse(await textOf(first)), documentV2(blueprintOf(catalog, source)))
    assert.match(first.hash, /^[0-9A-F]{128}$/)
  })

  const pathsOf = async (index: KeptDocument): Promise<{ readonly [name: string]: Json }> => JSON.parse(await textOf(index)).paths

  test('are listed with their hashes', async () => {
    const documents = openApiDocuments(source)
    const paths = await pathsOf(await documents.index({ catalog }))
    assert.deepEqual(Object.keys(paths), [...v3.keys()].sort())
    const document = await documents.v3({ catalog }, 'api/v1', 'json')
    assert.equal(paths['api/v1']?.['serverRelativeURL'], `/openapi/v3/api/v1?hash=${document?.hash}`)
    assert.equal((await documents.v3({ catalog }, 'api/v1', 'protobuf'))?.hash, document?.hash)
    assert.equal(await documents.v3({ catalog }, 'apis/none/v1', 'json'), undefined)
  })

  const names = [...v3.keys()]
  const changed = async (documents: OpenApiDocuments, before: Catalog, after: Catalog): Promise<readonly string[]> => {
    const found: string[] = []
    for (const name of names) {
      const [old, now] = [await documents.v3({ catalog: before }, name, 'json'), await documents.v3({ catalog: after }, name, 'json')]
      if (old?.hash !== now?.hash) found.push(name)
    }
    return found
  }

  test('stay as they are when a custom kind comes, but for those that tell of it', async () => {
    const documents = openApiDocuments(source)
    const after = catalog.with({ put: [gadget] })
    const [v2Before, v2After] = [await documents.v2({ catalog }, 'json'), await documents.v2({ catalog: after }, 'json')]
    assert.ok(!(await textOf(v2Before)).includes('Gadget') && (await textOf(v2After)).includes('com.example.shop.v1beta1.Gadget'))
    assert.deepEqual(await changed(documents, catalog, after), ['apis/shop.example.com/v1beta1'])
    const [indexBefore, indexAfter] = [await documents.index({ catalog }), await documents.index({ catalog: after })]
    assert.notEqual(indexBefore.hash, indexAfter.hash)
    const pathsAfter = await pathsOf(indexAfter)
    const differing = Object.entries(await pathsOf(indexBefore)).filter(
      ([name, { serverRelativeURL }]) => pathsAfter[name]?.['serverRelativeURL'] !== serverRelativeURL,
    )
    assert.deepEqual(
      differing.map(([name]) => name),
      ['apis/shop.example.com/v1beta1'],
    )
    const back = after.with({ remove: [gadget] })
    assert.equal((await documents.index({ catalog: back })).hash, indexBefore.hash)
    assert.equal((await documents.v2({ catalog: back }, 'json')).hash, v2Before.hash)
  })

  test('are others when a kind of theirs is one of another version, too', async () => {
    const documents = openApiDocuments(source)
    // Every document in which something is deleted tells of all versions that are not custom ones.
    const after = catalog.with({ put: [{ ...gadget, group: 'core.example.com', versions: [{ name: 'v1', schema: plain, stored: true }] }] })
    assert.deepEqual(await changed(documents, catalog, after), [
      'api/v1',
      'apis/shop.example.com/v1beta1',
      'apis/small.things.cluster.io/v1',
    ])
    const fresh = blueprintOf(after, source)
    for (const [name, sources] of sourcesByDocument(fresh)) {
      const kept = (await documents.v3({ catalog: after }, name, 'json')) as KeptDocument
      assert.deepEqual(JSON.parse(await textOf(kept)), documentV3(fresh, sources))
    }
  })

  test('are the same whenever a kind has come', async () => {
    const before = openApiDocuments(source)
    const later = catalog.with({ remove: [gadget] }).with({ put: [gadget] })
    const again = catalog
      .with({ put: [gadget] })
      .with({ remove: [widget] })
      .with({ put: [widget] })
    for (const form of ['json', 'protobuf'] as const) {
      assert.equal((await before.v2({ catalog: later }, form)).hash, (await before.v2({ catalog: again }, form)).hash)
    }
  })

  test('are rendered anew only where something changed', async () => {
    let asked = 0
    const documents = openApiDocuments({
      ...source,
      describe: () => {
        asked++
        return undefined
      },
    })
    const build = async (about: Catalog): Promise<number> => {
      asked = 0
      for (const form of ['json', 'protobuf'] as const) {
        await documents.v2({ catalog: about }, form)
        for (const name of names) await documents.v3({ catalog: about }, name, form)
      }
      return asked
    }
    const first = await build(catalog.with({ put: [gadget] }))
    const second = await build(catalog.with({ put: [{ ...gadget, shortNames: ['gg'] }] }))
    assert.ok(second > 0 && second < first / 20, `${second} of ${first}`)
  })

  test('that could not be made are tried again by whoever asks next', async () => {
    let isFailing = true
    const documents = openApiDocuments({
      ...source,
      describe: () => {
        if (isFailing) throw new Error('no words')
        return undefined
      },
    })
    const ask = async (): Promise<readonly unknown[]> => [
      await documents.v2({ catalog }, 'json'),
      await documents.v2({ catalog }, 'protobuf'),
      await documents.v3({ catalog }, 'apis/shop.example.com/v1beta1', 'json'),
      await documents.index({ catalog }),
    ]
    for (const form of ['json', 'protobuf'] as const) await assert.rejects(documents.v2({ catalog }, form), /no words/)
    await assert.rejects(documents.v3({ catalog }, 'apis/shop.example.com/v1beta1', 'json'), /no words/)
    await assert.rejects(documents.index({ catalog }), /no words/)
    isFailing = false
    const made = await ask()
    assert.deepEqual(JSON.parse(await textOf(made[0] as KeptDocument)), documentV2(blueprintOf(catalog, source)))
    assert.deepEqual(await ask(), made)
  })

  test('of many kinds are drawn and put together in steps, so that others get their turn', () => {
    const many = Array.from({ length: 300 }, (_, i) => ({ ...gadget, resource: `gadget${i}s`, kind: `Gadget${i}` }))
    const counted = (work: Generator<unknown, unknown, void>): number => {
      let steps = 0
      while (work.next().done !== true) steps++
      return steps
    }
    assert.ok(counted(drawBlueprint(catalog.with({ put: many }), source)) >= 600)
    const part = packShort(Buffer.from('{}'))
    const parts = many.map(() => part)
    assert.ok(counted(joinParts(parts)) >= 600)
    assert.ok(counted(hashOf(parts)) >= 300)
  })

  test('are rendered in steps of one path or one definition, so that others get their turn', () => {
    const format = { version: 2, name: 'protobuf' } as const
    const stepsOf = <T>(work: Generator<unknown, T, void>): readonly [number, T] => {
      for (let steps = 0; ; steps++) {
        const step = work.next()
        if (step.done) return [steps, step.value]
      }
    }
    for (const each of blueprint.sources) {
      const [steps, { shared }] = stepsOf(renderUnit(blueprint, each, format))
      assert.ok(steps >= each.routes().length)
      const [more, { types }] = stepsOf(renderShared(blueprint, shared, format))
      assert.ok(more >= types.size)
    }
  })
})
