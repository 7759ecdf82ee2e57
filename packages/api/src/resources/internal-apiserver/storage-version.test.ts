// Tests of StorageVersions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { rowTitle } from '../expect-errors.fixture.js'
import { storageVersion } from './storage-version.js'
import type { StorageVersion, StorageVersionStatus } from './v1alpha1.schema.js'

const context = { ...testContext(), version: 'v1alpha1' }
const metadata = { name: 'apps.deployments', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (status: StorageVersionStatus = {}): StorageVersion => frozen({ metadata, status })
const server = { apiServerID: 'a', encodingVersion: 'apps/v1', decodableVersions: ['apps/v1', 'v2'] }
const [status] = storageVersion.subresources ?? []

const names: readonly (readonly [name: string, problems: number])[] = [
  ['apps.deployments', 0],
  ['a.b.things', 0],
  ['things', 1],
  ['A.1things', 2],
]

for (const [name, problems] of names) {
  test(`the name ${name} has ${problems} problems`, () => assert.equal(storageVersion.nameProblems(name, false).length, problems))
}

const common = 'status.commonEncodingVersion: Invalid value:'
const rows: readonly (readonly [status: StorageVersionStatus, ...expected: readonly string[]])[] = [
  [{}],
  [{ storageVersions: [server, { ...server, apiServerID: 'b' }], commonEncodingVersion: 'apps/v1' }],
  [{ storageVersions: [server, server], commonEncodingVersion: 'apps/v1' }, 'status.storageVersions[1].apiServerID: Duplicate value: "a"'],
  [
    { storageVersions: [{ ...server, decodableVersions: ['v2'] }], commonEncodingVersion: 'apps/v1' },
    'status.storageVersions[0].decodableVersions: Invalid value: ["v2"]: decodableVersions must include encodingVersion apps/v1',
  ],
  [
    { commonEncodingVersion: 'v1' },
    `${common} "v1": should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet`,
  ],
  [{ storageVersions: [server] }, `${common} "null": the common encoding version is apps/v1`],
  [{ storageVersions: [server], commonEncodingVersion: 'v9' }, `${common} "v9": the actual common encoding version is apps/v1`],
  [
    {
      conditions: [
        { type: 'A', status: 'True', reason: 'r', message: 'm' },
        { type: 'A', status: 'True' },
      ],
    },
    'status[1].type: Invalid value: "A": the type of the condition is not unique, it also appears in conditions[0]',
    'status[1].reason: Required value: reason cannot be empty',
    'status[1].message: Required value: message cannot be empty',
  ],
]

for (const [sent, ...expected] of rows) {
  test(`a status: ${rowTitle(sent, expected)}`, () => {
    const change = { next: make(sent), old: make(), ...(status && { subresource: status }) }
    assert.deepEqual(lines(validateChange(storageVersion, change, context)), expected)
  })
}

test('an invalid version is rejected', () => {
  const broken = { apiServerID: 'a', encodingVersion: 'a/b/c', decodableVersions: ['a/b/c', '/v1'] }
  const change = {
    next: make({ storageVersions: [broken], commonEncodingVersion: 'a/b/c' }),
    old: make(),
    ...(status && { subresource: status }),
  }
  const fields = validateChange(storageVersion, change, context).map(({ field }) => field.replace('status.storageVersions[0].', ''))
  assert.deepEqual(fields, ['encodingVersion', 'decodableVersions[0]', 'decodableVersions[1]'])
})

test('an update keeps the status', () => {
  const sent = make({ storageVersions: [server] })
  assert.deepEqual(storageVersion.prepareCreate?.(sent, context), make())
  assert.deepEqual(storageVersion.prepareUpdate?.(sent, make(), context), make())
  assert.deepEqual(validateCreation(storageVersion, make(), context), [])
})

test('printer columns', () => {
  const servers = ['a', 'b', 'c', 'd'].map((apiServerID) => ({ ...server, apiServerID }))
  assert.deepEqual(storageVersion.table?.cells(make({ storageVersions: servers, commonEncodingVersion: 'apps/v1' }), context), [
    'apps.deployments',
    'apps/v1',
    'a=apps/v1,b=apps/v1,c=apps/v1 + 1 more...',
    '60m',
  ])
  assert.deepEqual(storageVersion.table?.cells(make(), context), ['apps.deployments', '<unset>', '', '60m'])
})
