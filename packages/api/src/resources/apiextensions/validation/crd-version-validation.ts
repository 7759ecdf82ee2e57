// The versions of a custom kind: their names, their schemas, their subresources and the columns of their tables.

import { type FieldError, invalid, required } from '../../api/field-error.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { checkEach, joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { dns1035Label } from '../../api/validation/text-rules.js'
import { indexOfUnprintable } from '../../base/can-be-printed.js'
import type { JsonSchema } from './json-schema.js'
import { validateOpenApiSchema } from './openapi-schema.js'
import { validateColumn } from './printer-columns.js'
import { type SharedParts, sharedParts } from './shared-parts.js'
import { validateSubresources } from './subresource-rules.js'
import type { CustomResourceDefinitionSpec as Spec, CustomResourceDefinitionVersion as Version } from './v1.schema.js'

const warningLimitBytes = 256

/** The rules of the list, and of what is said in each version for itself. */
export function validateVersions(versions: readonly Version[]): readonly FieldError[] {
  const shared = sharedParts(versions)
  const names = versions.map(({ name = '' }) => name)
  return joined(
    checkEach(versions, 'spec.versions', (version, field) => validateVersion(version, field, shared)),
    new Set(names).size === names.length ? noErrors : [invalid('spec.versions', names, 'must contain unique version names')],
    versions.filter(({ storage }) => storage).length === 1
      ? noErrors
      : [invalid('spec.versions', names, 'must have exactly one version marked as storage version')],
    // The first version is spoken of once more, under the name that it had when there was one.
    (names[0] ?? '') === '' ? noErrors : checkVersionName(names[0] ?? '', 'spec.version'),
  )
}

/** A schema for each version, in one way or the other. */
export function validateSchemasPresent(versions: readonly Version[]): readonly FieldError[] {
  return checkEach(versions, 'spec.versions', ({ schema }, field) =>
    schema?.openAPIV3Schema === undefined ? [required(`${field}.schema.openAPIV3Schema`, 'schemas are required')] : noErrors,
  )
}

/** The rules of what all versions share. */
export function validateSharedParts({ versions = [] }: Spec): readonly FieldError[] {
  const shared = sharedParts(versions)
  const [first = {}] = versions
  const hasStatus = versions.some(hasStatusSubresource)
  return joined(
    shared.schema ? validateSchemaOf(first, 'spec.validation', hasStatus) : noErrors,
    shared.subresources ? validateSubresources(first.subresources, 'spec.subresources') : noErrors,
    shared.additionalPrinterColumns ? checkEach(first.additionalPrinterColumns, 'spec.additionalPrinterColumns', validateColumn) : noErrors,
  )
}

const hasStatusSubresource = ({ subresources }: Version): boolean => subresources?.status !== undefined

const validateSchemaOf = ({ schema }: Version, field: string, hasStatus: boolean): readonly FieldError[] =>
  schema?.openAPIV3Schema === undefined
    ? noErrors
    : validateOpenApiSchema(schema.openAPIV3Schema as JsonSchema, `${field}.openAPIV3Schema`, { hasStatus })

function validateVersion(version: Version, field: string, shared: SharedParts): readonly FieldError[] {
  return joined(
    checkVersionName(version.name ?? '', `${field}.name`),
    warningProblems(version).map((problem) => invalid(`${field}.deprecationWarning`, version.deprecationWarning, problem)),
    shared.schema ? noErrors : validateSchemaOf(version, `${field}.schema`, hasStatusSubresource(version)),
    shared.subresources ? noErrors : validateSubresources(version.subresources, `${field}.subresources`),
    shared.additionalPrinterColumns
      ? noErrors
      : checkEach(version.additionalPrinterColumns, `${field}.additionalPrinterColumns`, validateColumn),
  )
}

function checkVersionName(name: string, field: string): readonly FieldError[] {
  const problems = dns1035Label(name)
  return problems.length === 0 ? noErrors : [invalid(field, name, problems.join(','))]
}

function warningProblems({ deprecated = false, deprecationWarning: warning }: Version): readonly string[] {
  if (warning === undefined) return []
  if (!deprecated) return ['can only be set for deprecated versions']
  const problems: string[] = []
  if (byteLength(warning) > warningLimitBytes) problems.push(`must be <= ${warningLimitBytes} characters long`)
  if (warning === '') problems.push('must not be an empty string')
  const bad = indexOfUnprintable(warning)
  if (bad >= 0) {
    const index = byteLength(warning.slice(0, bad))
    problems.push(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`)
  }
  return problems
}
