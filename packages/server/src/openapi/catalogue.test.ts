// The published paths and types against the catalogue, which lists what the reference publishes: once for every kind of the catalogue,
// so that the rules are tested before all kinds are written, and once for the kinds that this server has.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import { Catalog } from '../../api/catalog.js'
import type { ResourceDefinition } from '../../api/definition.js'
import { identityOf } from '../../api/identity.js'
import { definitions as builtIn } from '../../resources/index.js'
import type { JsonSchema } from '../../schema/openapi.js'
import { allRoutes, type Blueprint, blueprintOf } from './blueprint.js'
import { catalogueDefinitions, catalogueFiles, catalogueFolder } from './catalogue.fixture.js'
import { type CataloguePaths, cataloguePaths, type OperationFacts, type PathFacts, type PathJson } from './catalogue-paths.fixture.js'
import { expectedDefinitions } from './catalogue-types.fixture.js'
import { checkDocument } from './check-document.fixture.js'
import { documentV2, documentV3, sourcesByDocument } from './whole-document.fixture.js'

const skip = existsSync(catalogueFolder) ? false : `there is no ${catalogueFolder}`

type Paths = { readonly [path: string]: PathJson }
type Schemas = { readonly [name: string]: JsonSchema }

const blueprintFor = (definitions: readonly ResourceDefinition[]): Blueprint =>
  blueprintOf(new Catalog({ identity: identityOf('cluster'), definitions, isServed: () => true }), {
    describe: () => undefined,
    release: 'v1.26.8',
  })

/** Bodies are marked as required by version 2, while the catalogue looks at version 3, but for paths that only version 2 has. */
function asVersion2({ document, ...facts }: PathFacts): { readonly [key: string]: unknown } {
  if (document === null) return facts
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]) => {
      const { request } = value as OperationFacts
      const isOptional = request === undefined || request.type === 'meta.DeleteOptions'
      return [key, isOptional ? value : { ...(value as OperationFacts), request: { ...request, required: true } }]
    }),
  )
}

const asVersion3 = ({ document: _, ...facts }: PathFacts): { readonly [key: string]: unknown } => facts

const withoutKinds = ({ 'x-kubernetes-group-version-kind': _, ...schema }: JsonSchema): JsonSchema => schema

describe('every kind of the catalogue', { skip }, () => {
  let catalogue: CataloguePaths
  let blueprint: Blueprint

  before(async () => {
    catalogue = cataloguePaths()
    blueprint = blueprintFor(await catalogueDefinitions())
  })

  const documents = (): readonly (readonly [string, JsonSchema])[] =>
    [...sourcesByDocument(blueprint)].map(([name, sources]) => [name, documentV3(blueprint, sources)])

  test('version 2 has exactly the paths, methods, parameters and codes', () => {
    const paths = documentV2(blueprint)['paths'] as Paths
    assert.deepEqual(Object.keys(paths).sort(), Object.keys(catalogue.facts.paths).sort())
    for (const [path, published] of Object.entries(paths)) {
      assert.deepEqual(catalogue.describePath(published), asVersion2(catalogue.facts.paths[path] as PathFacts), path)
      assert.deepEqual(catalogue.oddParameters(published), [], path)
    }
  })

  test('version 3 has exactly the documents with their paths', () => {
    const expected = Object.entries(catalogue.facts.paths).flatMap(([path, { document }]) =>
      document === null ? [] : [`${document} ${path}`],
    )
    const found = documents().flatMap(([name, document]) => Object.keys(document['paths'] as Paths).map((path) => `${name} ${path}`))
    assert.deepEqual(found.sort(), expected.sort())
    for (const [, document] of documents()) {
      for (const [path, published] of Object.entries(document['paths'] as Paths)) {
        assert.deepEqual(catalogue.describePath(published), asVersion3(catalogue.facts.paths[path] as PathFacts), path)
        assert.deepEqual(catalogue.oddParameters(published), [], path)
      }
    }
  })

  test('version 2 has the types, with exactly their fields and marks', () => {
    const expected = expectedDefinitions(catalogueFiles(), 2)
    const published = documentV2(blueprint)['definitions'] as Schemas
    assert.ok(Object.keys(published).length > 500)
    for (const [name, schema] of Object.entries(published)) assert.deepEqual(withoutKinds(schema), expected.get(name), name)
  })

  test('version 3 has the types, with exactly their fields, marks and defaults', () => {
    const expected = expectedDefinitions(catalogueFiles(), 3)
    for (const [, document] of documents()) {
      const { schemas } = document['components'] as { readonly schemas: Schemas }
      for (const [name, schema] of Object.entries(schemas)) assert.deepEqual(withoutKinds(schema), expected.get(name), name)
    }
  })

  test('types that are kinds say which', () => {
    const published = documentV2(blueprint)['definitions'] as Schemas
    const places = new Set<string>()
    for (const { schemaPrefix, types } of catalogueFiles().values()) {
      for (const [name, { gvk }] of Object.entries(types)) {
        const schema: JsonSchema | undefined = published[`${schemaPrefix}.${name}`]
        if (schema === undefined || schemaPrefix?.includes('apimachinery')) continue
        assert.deepEqual(schema['x-kubernetes-group-version-kind'], gvk, name)
        for (const { group, version } of gvk ?? []) places.add(`${group}/${version}`)
      }
    }
    const deleteOptions = published['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']
    const kinds = deleteOptions?.['x-kubernetes-group-version-kind'] as readonly { readonly group: string; readonly version: string }[]
    assert.deepEqual(kinds.map(({ group, version }) => `${group}/${version}`).sort(), [...places].sort())
  })

  test('the structure of all documents', () => {
    assert.deepEqual(checkDocument(documentV2(blueprint)), [])
    for (const [, document] of documents()) assert.deepEqual(checkDocument(document), [])
  })
})

test('the kinds of this server have what the catalogue has for them', { skip }, () => {
  const { facts, describePath } = cataloguePaths()
  const blueprint = blueprintFor(builtIn)
  const routes = allRoutes(blueprint)
  const isOfKind = (path: string): boolean => routes.some((route) => route.path === path && route.operations.some(({ kind }) => kind))
  const paths = documentV2(blueprint)['paths'] as Paths
  const published = Object.entries(paths).filter(([path]) => isOfKind(path))
  const collections = new Set(published.map(([path]) => path.replace(/\/\{name\}.*$/, '')))
  const expected = Object.entries(facts.paths).filter(([path]) => collections.has(path.replace(/\/\{name\}.*$/, '')))
  const describeAll = (all: readonly (readonly [string, { readonly [key: string]: unknown }])[]): readonly string[] =>
    all.flatMap(([path, described]) => Object.entries(described).map(([key, value]) => `${path} ${key} ${JSON.stringify(value)}`)).sort()
  const [found, wanted] = [
    describeAll(published.map(([path, one]) => [path, describePath(one)])),
    describeAll(expected.map(([path, one]) => [path, asVersion2(one)])),
  ]
  const without = (all: readonly string[], others: readonly string[]): readonly string[] => all.filter((line) => !others.includes(line))
  assert.deepEqual({ tooMuch: without(found, wanted), missing: without(wanted, found) }, { tooMuch: [], missing: [] })
})
