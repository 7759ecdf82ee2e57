// Published OpenAPI paths and types compared with the catalogue (../shared/catalogue: recorded facts about kube-apiserver 1.26):
// for all kinds of the catalogue, and for the built-in kinds.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { ResourceDefinition } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { definitions as builtIn } from '@cluster-apiserver/api/resources/index.js'
import type { JsonSchema } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import { catalogueDefinitions, catalogueFiles, catalogueFolder } from './catalogue.fixture.js'
import { type CataloguePaths, cataloguePaths, type OperationFacts, type PathFacts, type PathJson } from './catalogue-paths.fixture.js'
import { expectedDefinitions } from './catalogue-types.fixture.js'
import { type Blueprint, blueprintOf } from './documents/blueprint.js'
import { checkDocument } from './documents/check-document.fixture.js'
import { allRoutes, documentV2, documentV3, sourcesByDocument } from './documents/whole-document.fixture.js'

const skip = existsSync(catalogueFolder) ? false : `there is no ${catalogueFolder}`

type Paths = { readonly [path: string]: PathJson }
type Schemas = { readonly [name: string]: JsonSchema }

const blueprintFor = (definitions: readonly ResourceDefinition[]): Promise<Blueprint> =>
  blueprintOf(new Catalog({ identity: identityOf('cluster'), definitions, isServed: () => true }), {
    describe: () => undefined,
    release: 'v1.26.8',
  })

/** The catalogue describes v3; v2 marks bodies as required, except DeleteOptions and bodies of paths that only v2 has. */
function asV2({ document, ...facts }: PathFacts): { readonly [key: string]: unknown } {
  if (document === null) return facts
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]) => {
      const { request } = value as OperationFacts
      const isOptional = request === undefined || request.type === 'meta.DeleteOptions'
      return [key, isOptional ? value : { ...(value as OperationFacts), request: { ...request, required: true } }]
    }),
  )
}

const asV3 = ({ document: _, ...facts }: PathFacts): { readonly [key: string]: unknown } => facts

const withoutKinds = ({ 'x-kubernetes-group-version-kind': _, ...schema }: JsonSchema): JsonSchema => schema

describe('every kind of the catalogue', { skip }, () => {
  let catalogue: CataloguePaths
  let v2: JsonSchema
  const v3: (readonly [string, JsonSchema])[] = []

  before(async () => {
    catalogue = cataloguePaths()
    const blueprint = await blueprintFor(await catalogueDefinitions())
    v2 = await documentV2(blueprint)
    for (const [name, sources] of sourcesByDocument(blueprint)) v3.push([name, await documentV3(blueprint, sources)])
  })

  test('v2 has exactly the paths, methods, parameters and status codes', () => {
    const paths = v2['paths'] as Paths
    assert.deepEqual(Object.keys(paths).sort(), Object.keys(catalogue.facts.paths).sort())
    for (const [path, published] of Object.entries(paths)) {
      assert.deepEqual(catalogue.describePath(published), asV2(catalogue.facts.paths[path] as PathFacts), path)
      assert.deepEqual(catalogue.differentParameters(published), [], path)
    }
  })

  test('v3 has exactly the documents with their paths', () => {
    const expected = Object.entries(catalogue.facts.paths).flatMap(([path, { document }]) =>
      document === null ? [] : [`${document} ${path}`],
    )
    const found = v3.flatMap(([name, document]) => Object.keys(document['paths'] as Paths).map((path) => `${name} ${path}`))
    assert.deepEqual(found.sort(), expected.sort())
    for (const [, document] of v3) {
      for (const [path, published] of Object.entries(document['paths'] as Paths)) {
        assert.deepEqual(catalogue.describePath(published), asV3(catalogue.facts.paths[path] as PathFacts), path)
        assert.deepEqual(catalogue.differentParameters(published), [], path)
      }
    }
  })

  test('v2 types have exactly their fields and extensions', () => {
    const expected = expectedDefinitions(catalogueFiles(), 2)
    const published = v2['definitions'] as Schemas
    assert.ok(Object.keys(published).length > 500)
    for (const [name, schema] of Object.entries(published)) assert.deepEqual(withoutKinds(schema), expected.get(name), name)
  })

  test('v3 types have exactly their fields, extensions and defaults', () => {
    const expected = expectedDefinitions(catalogueFiles(), 3)
    for (const [, document] of v3) {
      const { schemas } = document['components'] as { readonly schemas: Schemas }
      for (const [name, schema] of Object.entries(schemas)) assert.deepEqual(withoutKinds(schema), expected.get(name), name)
    }
  })

  test('types of kinds have x-kubernetes-group-version-kind', () => {
    const published = v2['definitions'] as Schemas
    const groupVersions = new Set<string>()
    for (const { schemaPrefix, types } of catalogueFiles().values()) {
      for (const [name, { gvk }] of Object.entries(types)) {
        const schema: JsonSchema | undefined = published[`${schemaPrefix}.${name}`]
        if (schema === undefined || schemaPrefix?.includes('apimachinery')) continue
        assert.deepEqual(schema['x-kubernetes-group-version-kind'], gvk, name)
        for (const { group, version } of gvk ?? []) groupVersions.add(`${group}/${version}`)
      }
    }
    const deleteOptions = published['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']
    const kinds = deleteOptions?.['x-kubernetes-group-version-kind'] as readonly { readonly group: string; readonly version: string }[]
    assert.deepEqual(kinds.map(({ group, version }) => `${group}/${version}`).sort(), [...groupVersions].sort())
  })

  test('all documents have a valid structure', () => {
    assert.deepEqual(checkDocument(v2), [])
    for (const [, document] of v3) assert.deepEqual(checkDocument(document), [])
  })
})

test('built-in kinds have the paths of the catalogue', { skip }, async () => {
  const { facts, describePath } = cataloguePaths()
  const blueprint = await blueprintFor(builtIn)
  const routes = allRoutes(blueprint)
  const isOfKind = (path: string): boolean => routes.some((route) => route.path === path && route.operations.some(({ kind }) => kind))
  const paths = (await documentV2(blueprint))['paths'] as Paths
  const published = Object.entries(paths).filter(([path]) => isOfKind(path))
  const collections = new Set(published.map(([path]) => path.replace(/\/\{name\}.*$/, '')))
  const expected = Object.entries(facts.paths).filter(([path]) => collections.has(path.replace(/\/\{name\}.*$/, '')))
  const describeAll = (all: readonly (readonly [string, { readonly [key: string]: unknown }])[]): readonly string[] =>
    all.flatMap(([path, described]) => Object.entries(described).map(([key, value]) => `${path} ${key} ${JSON.stringify(value)}`)).sort()
  const [found, required] = [
    describeAll(published.map(([path, one]) => [path, describePath(one)])),
    describeAll(expected.map(([path, one]) => [path, asV2(one)])),
  ]
  const without = (all: readonly string[], others: readonly string[]): readonly string[] => all.filter((line) => !others.includes(line))
  assert.deepEqual({ surplus: without(found, required), missing: without(required, found) }, { surplus: [], missing: [] })
})
