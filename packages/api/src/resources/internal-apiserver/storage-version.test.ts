// What servers may report about the versions in which they write.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { storageVersion } from './storage-version.js'
import type { StorageVersion, StorageVersionStatus } from './v1alpha1.schema.js'

const context = { ...testContext(), version: 'v1alpha1' }
const metadata = { name: 'apps.deployments', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (status: StorageVersionStatus = {}): StorageVersion => frozen({ metadata, status })
const server = { apiServerID: 'a', encodingVersion: 'apps/v1', decodableVersions: ['apps/v1', 'v2'] }
const [status] = storageVersion.subresources ?? []

const names: readonly { readonly name: string; readonly problems: number }[] = [
  { name: 'apps.deployments', problems: 0 },
  { name: 'a.b.things', problems: 0 },
  { name: 'things', problems: 1 },
  { name: 'A.1things', problems: 2 },
]

for (const { name, problems } of names) {
  test(`the name ${name}`, () => assert.equal(storageVersion.nameProblems(name, false).length, problems))
}

const common = 'status.commonEncodingVersion: Invalid value:'
const rows: readonly { readonly title: string; readonly status: StorageVersionStatus; readonly found: readonly string[] }[] = [
  { title: 'nothing', status: {}, found: [] },
  {
    title: 'servers that agree',
    status: { storageVersions: [server, { ...server, apiServerID: 'b' }], commonEncodingVersion: 'apps/v1' },
    found: [],
  },
  {
    title: 'one server twice',
    status: { storageVersions: [server, server], commonEncodingVersion: 'apps/v1' },
    found: ['status.storageVersions[1].apiServerID: Duplicate value: "a"'],
  },
  {
    title: 'a version that cannot be read',
    status: { storageVersions: [{ ...server, decodableVersions: ['v2'] }], commonEncodingVersion: 'apps/v1' },
    found: ['status.storageVersions[0].decodableVersions: Invalid value: ["v2"]: decodableVersions must include encodingVersion apps/v1'],
  },
  {
    title: 'an agreement of nobody',
    status: { commonEncodingVersion: 'v1' },
    found: [
      `${common} "v1": should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet`,
    ],
  },
  {
    title: 'no agreement where there is one',
    status: { storageVersions: [server] },
    found: [`${common} "null": the common encoding version is apps/v1`],
  },
  {
    title: 'another agreement',
    status: { storageVersions: [server], commonEncodingVersion: 'v9' },
    found: [`${common} "v9": the actual common encoding version is apps/v1`],
  },
  {
    title: 'conditions twice and without reason',
    status: {
      conditions: [
        { type: 'A', status: 'True', reason: 'r', message: 'm' },
        { type: 'A', status: 'True' },
      ],
    },
    found: [
      'status[1].type: Invalid value: "A": the type of the condition is not unique, it also appears in conditions[0]',
      'status[1].reason: Required value: reason cannot be empty',
      'status[1].message: Required value: message cannot be empty',
    ],
  },
]

for (const row of rows) {
  test(`a status with ${row.title}`, () => {
    const change = { next: make(row.status), old: make(), ...(status && { subresource: status }) }
    assert.deepEqual(lines(validateChange(storageVersion, change, context)), row.found)
  })
}

test('a version that is no version', () => {
  const broken = { apiServerID: 'a', encodingVersion: 'a/b/c', decodableVersions: ['a/b/c', '/v1'] }
  const change = {
    next: make({ storageVersions: [broken], commonEncodingVersion: 'a/b/c' }),
    old: make(),
    ...(status && { subresource: status }),
  }
  const fields = validateChange(storageVersion, change, context).map(({ field }) => field.replace('status.storageVersions[0].', ''))
  assert.deepEqual(fields, ['encodingVersion', 'decodableVersions[0]', 'decodableVersions[1]'])
})

test('the status is not for the main resource', () => {
  const sent = make({ storageVersions: [server] })
  assert.deepEqual(storageVersion.prepareCreate?.(sent, context), make())
  assert.deepEqual(storageVersion.prepareUpdate?.(sent, make(), context), make())
  assert.deepEqual(validateCreation(storageVersion, make(), context), [])
})

test('a row of the table', () => {
  const servers = ['a', 'b', 'c', 'd'].map((apiServerID) => ({ ...server, apiServerID }))
  assert.deepEqual(storageVersion.table?.cells(make({ storageVersions: servers, commonEncodingVersion: 'apps/v1' }), context), [
    'apps.deployments',
    'apps/v1',
    'a=apps/v1,b=apps/v1,c=apps/v1 + 1 more...',
    '60m',
  ])
  assert.deepEqual(storageVersion.table?.cells(make(), context), ['apps.deployments', '<unset>', '', '60m'])
})
