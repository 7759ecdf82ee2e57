// StorageVersion: the version in which each API server writes a resource, for storage migration.

import { statusOnlySubresource } from '../../api/definition/keep-metadata.js'
import { defineResource } from '../../api/definition/resource-definition.js'
import { duplicate, type FieldError, invalid, required } from '../../api/field-error.js'
import { checkEach, checkText, joined, type NameRule, noErrors } from '../../api/validation/checks.js'
import { dns1035Label, dnsSubdomain, grammarProblem, qualifiedName } from '../../api/validation/name-formats.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { withOldStatus } from '../status-subresource.js'
import {
  type ServerStorageVersion,
  type StorageVersion,
  type StorageVersionCondition,
  type StorageVersionStatus,
  storageVersion as schema,
} from './v1alpha1.schema.js'

const nameProblems: NameRule = (name) => {
  const dot = name.lastIndexOf('.')
  if (dot < 0) return ['name must be in the form of <group>.<resource>']
  return [
    ...dnsSubdomain(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...dns1035Label(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`),
  ]
}

const severalSlashes = `an apiVersion is ${grammarProblem(
  "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  'my-name',
  'abc-123',
)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`

function apiVersionProblems(apiVersion: string): readonly string[] {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return [severalSlashes]
  const [version = '', group] = parts.reverse()
  const problems = [
    ...(group === undefined ? [] : partProblems(group, 'group part: ', dnsSubdomain)),
    ...partProblems(version, 'version part: ', dns1035Label),
  ]
  return problems.length === 0 ? problems : [problems.join(',')]
}

const partProblems = (part: string, intro: string, rule: (text: string) => readonly string[]): readonly string[] =>
  (part === '' ? ['must be non-empty'] : rule(part)).map((problem) => `${intro}${problem}`)

function validateStatus({ status = {} }: StorageVersion): readonly FieldError[] {
  const seen = new Set<string>()
  const serverErrors = checkEach(status.storageVersions, 'status.storageVersions', (server, field) => {
    const { apiServerID = '' } = server
    const isDuplicate = seen.has(apiServerID)
    seen.add(apiServerID)
    return joined(isDuplicate ? [duplicate(`${field}.apiServerID`, apiServerID)] : noErrors, validateServer(server, field))
  })
  return joined(serverErrors, validateCommonVersion(status), validateConditions(status.conditions))
}

function validateServer({ apiServerID = '', encodingVersion = '', decodableVersions = [] }: ServerStorageVersion, field: string) {
  return joined(
    checkText(apiServerID, `${field}.apiServerID`, dnsSubdomain),
    checkText(encodingVersion, `${field}.encodingVersion`, apiVersionProblems),
    checkEach(decodableVersions, `${field}.decodableVersions`, (version, at) => checkText(version, at, apiVersionProblems)),
    decodableVersions.includes(encodingVersion)
      ? noErrors
      : [invalid(`${field}.decodableVersions`, decodableVersions, `decodableVersions must include encodingVersion ${encodingVersion}`)],
  )
}

function commonVersion([first, ...others]: readonly ServerStorageVersion[]): string | undefined {
  const version = first?.encodingVersion
  return others.every(({ encodingVersion }) => encodingVersion === version) ? version : undefined
}

function validateCommonVersion({ storageVersions = [], commonEncodingVersion }: StorageVersionStatus): readonly FieldError[] {
  const common = commonVersion(storageVersions)
  if (common === commonEncodingVersion) return noErrors
  const versionErrors = (problem: string): readonly FieldError[] => [
    invalid('status.commonEncodingVersion', commonEncodingVersion, problem),
  ]
  if (common === undefined) {
    return versionErrors(
      'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet',
    )
  }
  return versionErrors(
    commonEncodingVersion === undefined ? `the common encoding version is ${common}` : `the actual common encoding version is ${common}`,
  )
}

function validateConditions(conditions: readonly StorageVersionCondition[] | undefined): readonly FieldError[] {
  const seen = new Map<string, number>()
  return checkEach(conditions, 'status', ({ type = '', status = '', reason = '', message = '' }, field, i) => {
    const earlier = seen.get(type)
    seen.set(type, i)
    return joined(
      earlier === undefined
        ? noErrors
        : [invalid(`${field}.type`, type, `the type of the condition is not unique, it also appears in conditions[${earlier}]`)],
      checkText(type, `${field}.type`, qualifiedName),
      checkText(status, `${field}.status`, qualifiedName),
      reason === '' ? [required(`${field}.reason`, 'reason cannot be empty')] : noErrors,
      message === '' ? [required(`${field}.message`, 'message cannot be empty')] : noErrors,
    )
  })
}

const maxShownServers = 3

function describeServers(servers: readonly ServerStorageVersion[]): string {
  const shown = servers.slice(0, maxShownServers).map(({ apiServerID = '', encodingVersion = '' }) => `${apiServerID}=${encodingVersion}`)
  const more = servers.length - maxShownServers
  return more > 0 ? `${shown.join(',')} + ${more} more...` : shown.join(',')
}

export const storageVersion = defineResource<StorageVersion>({
  group: { stem: 'internal.apiserver' },
  kind: 'StorageVersion',
  resource: 'storageversions',
  namespaced: false,
  versions: [{ name: 'v1alpha1', schema, stored: true }],
  nameProblems,
  prepareCreate: (version) => ({ ...version, status: {} }),
  prepareUpdate: withOldStatus,
  // No validation: an update of the main resource changes metadata only.
  checks: { update: [] },
  versionRequiredOnUpdate: true,
  resetFields: ['status'],
  subresources: [statusOnlySubresource(validateStatus)],
  table: tableOf<StorageVersion>(
    nameColumn,
    textColumn(
      'CommonEncodingVersion',
      'Encoding version that all API servers share.',
      ({ status }) => status?.commonEncodingVersion ?? '<unset>',
    ),
    textColumn('StorageVersions', 'Encoding versions of the first API servers.', ({ status }) =>
      describeServers(status?.storageVersions ?? []),
    ),
    ageColumn,
  ),
})
