// What is there to be discovered where API services say so, and where nobody does.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiServices, type ListedVersion, noApiServices } from '../api/api-services.js'
import { discoverableGroups } from './discoverable-groups.js'
import { gadget, thingsCatalog } from './openapi/things.fixture.js'

const catalog = thingsCatalog()
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

test('without API services, all that is served', () => {
  const groups = discoverableGroups(catalog, noApiServices)
  assert.deepEqual([...groups.keys()], [...catalog.groups().keys()])
  assert.equal(groups.get('small.things.cluster.io')?.whole, catalog.groups().get('small.things.cluster.io'))
  assert.equal(discoverableGroups(catalog, noApiServices), groups)
})

test('with them, what they name, and what describes them first', () => {
  const remote = { service: { namespace: 'n', name: 's', port: 443 }, ca: '', isInsecure: false }
  const services = servicesOf(
    listed('v1', 'small.things.cluster.io'),
    listed('v1', 'other.example', { groupPriority: 200, remote }),
    listed('v9', 'nobody.example', { groupPriority: 10 }),
  )
  const groups = discoverableGroups(catalog, services)
  const [first, second, ...rest] = [...groups.keys()]
  assert.deepEqual([first, second], ['apiregistration.cluster.io', 'other.example'])
  assert.ok(rest.indexOf('small.things.cluster.io') < rest.indexOf('nobody.example'))
  assert.equal(groups.get('other.example')?.versions[0]?.remote?.remote, remote)
  assert.equal(groups.get('other.example')?.whole, undefined)
  assert.deepEqual(groups.get('nobody.example')?.versions, [{ version: 'v9', served: undefined, remote: undefined }])
})

test('custom groups are there before their API services are', () => {
  const kind = { ...gadget, group: 'custom.example', custom: { singular: 'gadget', listKind: 'GadgetList' } }
  const changed = catalog.with({ put: [kind] })
  const groups = discoverableGroups(changed, servicesOf(listed('v1', 'apps'), listed('v1', 'late.example', { groupPriority: 900 })))
  assert.deepEqual([...groups.keys()], ['apiregistration.cluster.io', 'custom.example', 'late.example', 'apps'])
  assert.equal(groups.get('custom.example')?.whole, changed.groups().get('custom.example'))
})
