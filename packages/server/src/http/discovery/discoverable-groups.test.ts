// The groups of discovery with and without APIServices.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiServices, type ListedVersion, noApiServices } from '@cluster-apiserver/api/api/catalog/api-services.js'
import { gadget, sampleCatalog } from '../../openapi/sample-kinds.fixture.js'
import { discoverableGroups } from './discoverable-groups.js'

const catalog = sampleCatalog()
const listed = (version: string, group: string, more: Partial<ListedVersion> = {}): ListedVersion => ({
  name: `${version}.${group}`,
  group,
  version,
  groupPriority: 100,
  versionPriority: 1,
  isAvailable: true,
  remote: undefined,
  ...more,
})
const servicesOf = (...all: readonly ListedVersion[]): ApiServices => new ApiServices(new Map(all.map((each) => [each.name, each])))

test('without APIServices all served groups are listed', () => {
  const groups = discoverableGroups(catalog, noApiServices)
  assert.deepEqual([...groups.keys()], [...catalog.groups().keys()])
  assert.equal(groups.get('small.things.cluster.io')?.servedGroup, catalog.groups().get('small.things.cluster.io'))
  assert.equal(discoverableGroups(catalog, noApiServices), groups)
})

test('groups are ordered by APIService priority, apiregistration first', () => {
  const remote = { service: { namespace: 'n', name: 's', port: 443 }, ca: '', isInsecure: false }
  const services = servicesOf(
    listed('v1', 'small.things.cluster.io'),
    listed('v1', 'other.example', { groupPriority: 200, remote }),
    listed('v9', 'unserved.example', { groupPriority: 10 }),
  )
  const groups = discoverableGroups(catalog, services)
  const [first, second, ...rest] = [...groups.keys()]
  assert.deepEqual([first, second], ['apiregistration.cluster.io', 'other.example'])
  assert.ok(rest.indexOf('small.things.cluster.io') < rest.indexOf('unserved.example'))
  assert.equal(groups.get('other.example')?.versions[0]?.remote?.remote, remote)
  assert.equal(groups.get('other.example')?.servedGroup, undefined)
  assert.deepEqual(groups.get('unserved.example')?.versions, [{ version: 'v9', served: undefined, remote: undefined }])
})

test('custom groups are listed before their APIServices exist', () => {
  const kind = { ...gadget, group: 'custom.example', custom: { singular: 'gadget', listKind: 'GadgetList' } }
  const changed = catalog.with({ put: [kind] })
  const groups = discoverableGroups(changed, servicesOf(listed('v1', 'apps'), listed('v1', 'late.example', { groupPriority: 900 })))
  assert.deepEqual([...groups.keys()], ['apiregistration.cluster.io', 'custom.example', 'late.example', 'apps'])
  assert.equal(groups.get('custom.example')?.servedGroup, changed.groups().get('custom.example'))
})
