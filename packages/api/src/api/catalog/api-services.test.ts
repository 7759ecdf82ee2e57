// Tests of the order of groups and versions by APIService priority.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiServices, type ListedVersion, sortGroups } from './api-services.js'

const listed = (version: string, group: string, groupPriority: number, versionPriority: number): ListedVersion => ({
  name: `${version}.${group}`,
  group,
  version,
  groupPriority,
  versionPriority,
  isAvailable: true,
  remote: undefined,
})

test('groups are sorted by the highest priority of their versions, versions by their own', () => {
  const sorted = sortGroups([
    listed('v1', 'b.example', 100, 5),
    listed('v1beta1', 'a.example', 100, 10),
    listed('v1', 'a.example', 100, 10),
    listed('v2alpha1', 'a.example', 50, 20),
    listed('v1', 'low.example', 10, 1),
    listed('v2', 'low.example', 900, 1),
  ])
  assert.deepEqual(
    sorted.map(({ name, versions }) => [name, ...versions.map(({ version }) => version)]),
    [
      ['low.example', 'v2', 'v1'],
      ['a.example', 'v2alpha1', 'v1', 'v1beta1'],
      ['b.example', 'v1'],
    ],
  )
})

test('a remote server is found by group and version', () => {
  const remote = { service: { namespace: 'n', name: 's', port: 443 }, ca: '', isInsecure: false }
  const other = { ...listed('v1', 'a.example', 1, 1), remote }
  const services = new ApiServices(new Map([other, listed('v2', 'a.example', 1, 1)].map((service) => [service.name, service])))
  assert.equal(services.remote('a.example', 'v1'), other)
  assert.equal(services.remote('a.example', 'v2'), undefined)
  assert.equal(services.remote('b.example', 'v1'), undefined)
  assert.deepEqual(services.remotes, [other])
})
