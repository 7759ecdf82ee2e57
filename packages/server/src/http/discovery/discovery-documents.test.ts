// Discovery documents: groups, resources and storage version hashes, under both values of --identity.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noApiServices } from '@cluster-apiserver/api/api/catalog/api-services.js'
import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import { groupDocument, groupListDocument, resourceListDocument } from './discovery-documents.js'

test('discovery lists the served groups and resources, under both identities', () => {
  for (const [name, suffix] of [
    ['cluster', 'cluster.io'],
    ['kubernetes', 'k8s.io'],
  ] as const) {
    const catalog = new Catalog({ identity: identityOf(name), definitions, isServed: ({ version }) => !version.includes('alpha') })
    const names = (groupListDocument(catalog, noApiServices)['groups'] as { name: string }[]).map((group) => group.name)
    assert.ok(names.includes(`coordination.${suffix}`))
    assert.ok(!names.includes(`resource.${suffix}`))
    assert.equal(groupDocument(catalog, noApiServices, 'resource.example.com'), undefined)
    const core = resourceListDocument(catalog, { group: '', version: 'v1' })?.['resources'] as { name: string }[]
    assert.deepEqual(
      core.map((resource) => resource.name),
      core.map((resource) => resource.name).sort(),
    )
    assert.ok(core.some((resource) => resource.name === 'namespaces/finalize'))
    const hashOf = (group: string, name: string): unknown => {
      const document = resourceListDocument(catalog, { group, version: 'v1' })
      const resources = document?.['resources'] as readonly { readonly name: string; readonly storageVersionHash?: string }[]
      return resources.find((resource) => resource.name === name)?.storageVersionHash
    }
    assert.deepEqual(
      ['bindings', 'componentstatuses'].map((name) => hashOf('', name)),
      [undefined, undefined],
    )
    assert.equal(hashOf('', 'events'), 'r2yiGXH7wu8=')
    assert.equal(hashOf(`events.${suffix}`, 'events'), 'r2yiGXH7wu8=')
    assert.equal(resourceListDocument(catalog, { group: '', version: 'v2' }), undefined)
  }
})
