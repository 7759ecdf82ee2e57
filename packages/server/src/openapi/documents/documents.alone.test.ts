// OpenAPI documents: structure, type names, custom kinds, caching and hashes.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { describeType } from '@cluster-apiserver/api/resources/descriptions/describe-type.js'
import { definitions as builtIn } from '@cluster-apiserver/api/resources/index.js'
import { completeSchema } from '../crd-schemas.js'
import { gadget, gadgetWithPackage, sampleBlueprint, sampleCatalog, widget } from '../sample-kinds.fixture.js'
import { blueprintOf } from './blueprint.js'
import { checkDocument, type Json } from './check-document.fixture.js'
import { type CachedDocument, type OpenApiDocuments, openApiDocuments } from './documents.js'
import { documentV2, documentV3, sourcesByDocument } from './whole-document.fixture.js'

const blueprint = await sampleBlueprint()
const v2 = await documentV2(blueprint)
const v3 = new Map<string, Json>()
for (const [name, sources] of sourcesByDocument(blueprint)) v3.set(name, await documentV3(blueprint, sources))
const schemasOf = (document: Json | undefined): Json => ((document?.['components'] as Json | undefined)?.['schemas'] ?? {}) as Json

describe('the structure is valid', () => {
  test('of version 2', () => assert.deepEqual(checkDocument(v2), []))
  for (const [name, document] of v3) test(`of ${name}`, () => assert.deepEqual(checkDocument(document), []))

  test('of all built-in kinds', async () => {
    const catalog = new Catalog({ identity: identityOf('kubernetes'), definitions: builtIn, isServed: () => true })
    const builtInBlueprint = await blueprintOf(catalog, { describe: describeType, release: 'v1.26.8' })
    assert.deepEqual(checkDocument(await documentV2(builtInBlueprint)), [])
    for (const sources of sourcesByDocument(builtInBlueprint).values())
      assert.deepEqual(checkDocument(await documentV3(builtInBlueprint, sources)), [])
  })

  test('and checkDocument reports broken documents', () => {
    const broken = { ...v2, definitions: {} }
    assert.ok(checkDocument(broken).some((problem) => problem.includes('refers to #/definitions/')))
    assert.deepEqual(checkDocument({ ...v2, paths: { '/x/{name}': { get: { operationId: 'a', responses: { 200: {} } } } } }), [
      '/x/{name} get 200 must have description',
      '/x/{name} get has the path parameters ',
    ])
  })
})

test('v2 is one document, v3 has a document per group version', () => {
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

test('type names do not depend on the identity', async () => {
  assert.ok('io.k8s.api.things.v1.Thing' in schemasOf(v3.get('apis/small.things.cluster.io/v1')))
  const kubernetes = await sampleBlueprint('kubernetes')
  const names = Object.keys((await documentV2(kubernetes))['definitions'] as Json)
  assert.ok(names.includes('io.k8s.api.things.v1.Thing'))
  assert.ok(names.includes('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'))
  assert.ok(names.includes('com.example.shop.v1beta1.Widget'))
  assert.equal(
    names.find((name) => name.includes('cluster')),
    undefined,
  )
})

test('types have x-kubernetes-group-version-kind', () => {
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

test('items of a list are required unless the kind says otherwise', () => {
  const definitions = v2['definitions'] as { readonly [name: string]: Json }
  assert.deepEqual(definitions['io.k8s.api.things.v1.ThingList']?.['required'], ['items'])
  assert.equal(definitions['io.k8s.api.things.v1.BoxList']?.['required'], undefined)
})

test('v2 marks the body of PUT as required, that of DELETE not', () => {
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

  test('is published in v3 as in its CRD', () => {
    const schema = schemasOf(v3.get('apis/shop.example.com/v1beta1'))['com.example.shop.v1beta1.Widget'] as Json
    assert.equal(schema['description'], 'A widget.')
    assert.deepEqual(schema['x-kubernetes-group-version-kind'], kind)
    const { spec, sure: _, ...others } = schema['properties'] as { readonly [name: string]: Json }
    assert.deepEqual(others, {
      ...typeMeta,
      metadata: { description: 'TypeMeta metadata', allOf: [{ $ref: `#/components/schemas/${metadata}` }] },
    })
    assert.equal(spec?.['nullable'], true)
    const { size, whole } = propertiesOf(spec)
    assert.deepEqual(size, { 'x-kubernetes-int-or-string': true, default: 3, anyOf: [{ type: 'integer' }, { type: 'string' }] })
    assert.deepEqual(whole?.['required'], ['kind', 'apiVersion'])
    assert.deepEqual(Object.keys(propertiesOf(whole)), ['data', 'apiVersion', 'kind', 'metadata'])
  })

  test('is published in v2 without keywords that v2 clients reject', () => {
    const schema = (v2['definitions'] as Json)['com.example.shop.v1beta1.Widget'] as Json
    const { spec, sure } = schema['properties'] as { readonly [name: string]: Json }
    assert.deepEqual(spec, {}, 'a nullable field has no schema')
    assert.deepEqual(sure?.['required'], ['a'])
    const { whole, ...others } = propertiesOf(sure)
    assert.deepEqual(others, {
      a: { 'x-kubernetes-int-or-string': true, default: 3 },
      b: { maxLength: 3 },
      list: { 'x-kubernetes-preserve-unknown-fields': true },
      open: { 'x-kubernetes-preserve-unknown-fields': true },
    })
    assert.deepEqual(whole?.['required'], ['kind', 'apiVersion'])
    assert.deepEqual(propertiesOf(whole)['metadata'], { description: 'TypeMeta metadata', $ref: `#/definitions/${metadata}` })
  })

  test('with x-kubernetes-preserve-unknown-fields has no properties in v2', () => {
    const schema = { 'x-kubernetes-preserve-unknown-fields': true, properties: {} }
    const context = { describe: () => undefined, schemaOf: () => ({}) }
    assert.deepEqual(completeSchema(schema, 2, context), { type: 'object' })
    assert.deepEqual(Object.keys(completeSchema(schema, 3, context)['properties'] as Json), ['apiVersion', 'kind', 'metadata'])
  })
})

describe('cached documents', () => {
  const textOf = ({ compressed }: CachedDocument): string => gunzipSync(compressed()).toString()
  const source = { describe: () => undefined, release: 'v1.26.8' }
  const catalog = sampleCatalog()

  const pathsOf = (index: CachedDocument): { readonly [name: string]: Json } => JSON.parse(textOf(index)).paths

  test('are listed in the index with their hashes', async () => {
    const documents = openApiDocuments(source)
    const paths = pathsOf(await documents.index({ catalog }))
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

  test('change only where an added custom kind is published', async () => {
    const documents = openApiDocuments(source)
    const after = catalog.with({ put: [gadget] })
    const [v2Before, v2After] = [await documents.v2({ catalog }, 'json'), await documents.v2({ catalog: after }, 'json')]
    assert.ok(!textOf(v2Before).includes('Gadget') && textOf(v2After).includes('com.example.shop.v1beta1.Gadget'))
    assert.deepEqual(await changed(documents, catalog, after), ['apis/shop.example.com/v1beta1'])
    const [indexBefore, indexAfter] = [await documents.index({ catalog }), await documents.index({ catalog: after })]
    assert.notEqual(indexBefore.hash, indexAfter.hash)
    const pathsAfter = pathsOf(indexAfter)
    const differing = Object.entries(pathsOf(indexBefore)).filter(
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

  test('change when one of their types gets another kind', async () => {
    const documents = openApiDocuments(source)
    // This schema counts as built-in. DeleteOptions, a type in all changed documents, lists the group versions of built-in kinds.
    const after = catalog.with({
      put: [{ ...gadget, group: 'core.example.com', versions: [{ name: 'v1', schema: gadgetWithPackage, stored: true }] }],
    })
    assert.deepEqual(await changed(documents, catalog, after), [
      'api/v1',
      'apis/shop.example.com/v1beta1',
      'apis/small.things.cluster.io/v1',
    ])
    const fresh = await blueprintOf(after, source)
    for (const [name, sources] of sourcesByDocument(fresh)) {
      const kept = (await documents.v3({ catalog: after }, name, 'json')) as CachedDocument
      assert.deepEqual(JSON.parse(textOf(kept)), await documentV3(fresh, sources))
    }
  })

  test('do not depend on the order in which kinds were added', async () => {
    const before = openApiDocuments(source)
    const later = catalog.with({ remove: [gadget] }).with({ put: [gadget] })
    const readded = catalog
      .with({ put: [gadget] })
      .with({ remove: [widget] })
      .with({ put: [widget] })
    for (const encoding of ['json', 'protobuf'] as const) {
      assert.equal((await before.v2({ catalog: later }, encoding)).hash, (await before.v2({ catalog: readded }, encoding)).hash)
    }
  })

  test('are retried after a failed build', async () => {
    let isFailing = true
    const documents = openApiDocuments({
      ...source,
      describe: () => {
        if (isFailing) throw new Error('no description')
        return undefined
      },
    })
    const readAll = async (): Promise<readonly unknown[]> => [
      await documents.v2({ catalog }, 'json'),
      await documents.v2({ catalog }, 'protobuf'),
      await documents.v3({ catalog }, 'apis/shop.example.com/v1beta1', 'json'),
      await documents.index({ catalog }),
    ]
    for (const encoding of ['json', 'protobuf'] as const) await assert.rejects(documents.v2({ catalog }, encoding), /no description/)
    await assert.rejects(documents.v3({ catalog }, 'apis/shop.example.com/v1beta1', 'json'), /no description/)
    await assert.rejects(documents.index({ catalog }), /no description/)
    isFailing = false
    const created = await readAll()
    assert.deepEqual(JSON.parse(textOf(created[0] as CachedDocument)), await documentV2(await blueprintOf(catalog, source)))
    assert.deepEqual(await readAll(), created)
  })
})
