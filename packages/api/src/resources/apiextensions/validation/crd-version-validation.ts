// Validation of spec.versions of a CRD: names, schemas, subresources, additional printer columns, deprecation warnings.

import { type FieldError, invalid, required } from '../../../api/field-error.js'
import { byteLength } from '../../../api/validation/byte-length.js'
import { checkEach, checkPresent, joined, noErrors } from '../../../api/validation/checks.js'
import { dns1035Label } from '../../../api/validation/name-formats.js'
import { sameBySchema } from '../../../api/validation/same-by-schema.js'
import { indexOfUnprintable } from '../../../base/text/is-printable.js'
import type { SchemaNode } from '../../../schema/node.js'
import type { JsonSchema } from '../schema/json-schema.js'
import { validateOpenApiSchema } from '../schema/openapi-schema-validation.js'
import {
  type CustomResourceColumnDefinition as Column,
  type CustomResourceSubresources,
  customResourceDefinitionVersion,
  type CustomResourceDefinitionSpec as Spec,
  type CustomResourceDefinitionVersion as Version,
} from '../v1.schema.js'

const validateSimplePath = (path: string, field: string): readonly FieldError[] =>
  path.startsWith('.') ? noErrors : [invalid(field, path, 'must be a simple json path starting with .')]

const types = ['boolean', 'date', 'integer', 'number', 'string']
const formats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

function validateColumn({ name, type = '', format = '', jsonPath = '' }: Column, field: string): readonly FieldError[] {
  const oneOfTypes = `must be one of ${types.join(',')}`
  return joined(
    checkPresent(name, `${field}.name`),
    type === '' ? [required(`${field}.type`, oneOfTypes)] : noErrors,
    type === '' || types.includes(type) ? noErrors : [invalid(`${field}.type`, type, oneOfTypes)],
    format === '' || formats.includes(format) ? noErrors : [invalid(`${field}.format`, format, `must be one of ${formats.join(',')}`)],
    jsonPath === '' ? [required(`${field}.JSONPath`)] : validateSimplePath(jsonPath, `${field}.JSONPath`),
  )
}

/** True for parts that are equal in all versions: like kube-apiserver, errors then name the v1beta1 field. */
interface SharedParts {
  readonly schema: boolean
  readonly subresources: boolean
  readonly additionalPrinterColumns: boolean
}

const { fields } = customResourceDefinitionVersion

const sharedParts = (versions: readonly Version[]): SharedParts => ({
  schema: isShared(
    versions.map(({ schema }) => schema),
    fields.schema.node,
  ),
  subresources: isShared(
    versions.map(({ subresources }) => subresources),
    fields.subresources.node,
  ),
  additionalPrinterColumns: isShared(
    versions.map(({ additionalPrinterColumns }) => additionalPrinterColumns ?? []),
    fields.additionalPrinterColumns.node,
  ),
})

function isShared([first, ...others]: readonly (object | undefined)[], node: SchemaNode): boolean {
  return others.every((other) => (first === undefined || other === undefined ? first === other : sameBySchema(node, first, other)))
}

function validateSubresources(subresources: CustomResourceSubresources | undefined, field: string): readonly FieldError[] {
  if (subresources?.scale === undefined) return noErrors
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = subresources.scale
  return joined(
    checkRequiredPath(specReplicasPath, `${field}.scale.specReplicasPath`, '.spec'),
    checkRequiredPath(statusReplicasPath, `${field}.scale.statusReplicasPath`, '.status'),
    labelSelectorPath === '' ? noErrors : checkPath(labelSelectorPath, `${field}.scale.labelSelectorPath`, '.spec', '.status'),
  )
}

const checkRequiredPath = (path: string, field: string, root: string): readonly FieldError[] =>
  path === '' ? [required(field)] : checkPath(path, field, root)

function checkPath(path: string, field: string, ...roots: readonly string[]): readonly FieldError[] {
  const errors = validateSimplePath(path, field)
  if (errors.length > 0 || roots.some((root) => path.startsWith(`${root}.`))) return errors
  const allowedRoots = roots.length === 1 ? (roots[0] ?? '') : `either ${roots.join(' or ')}`
  return [invalid(field, path, `should be a json path under ${allowedRoots}`)]
}

const maxWarningBytes = 256

export function validateVersions(versions: readonly Version[]): readonly FieldError[] {
  const shared = sharedParts(versions)
  const names = versions.map(({ name = '' }) => name)
  return joined(
    checkEach(versions, 'spec.versions', (version, field) => validateVersion(version, field, shared)),
    new Set(names).size === names.length ? noErrors : [invalid('spec.versions', names, 'must contain unique version names')],
    versions.filter(({ storage }) => storage).length === 1
      ? noErrors
      : [invalid('spec.versions', names, 'must have exactly one version marked as storage version')],
    // Also reported as `spec.version` of v1beta1, as in kube-apiserver.
    (names[0] ?? '') === '' ? noErrors : checkVersionName(names[0] ?? '', 'spec.version'),
  )
}

export function validateSchemasPresent(versions: readonly Version[]): readonly FieldError[] {
  return checkEach(versions, 'spec.versions', ({ schema }, field) =>
    schema?.openAPIV3Schema === undefined ? [required(`${field}.schema.openAPIV3Schema`, 'schemas are required')] : noErrors,
  )
}

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
  if (byteLength(warning) > maxWarningBytes) problems.push(`must be <= ${maxWarningBytes} characters long`)
  if (warning === '') problems.push('must not be an empty string')
  const unprintableAt = indexOfUnprintable(warning)
  if (unprintableAt >= 0) {
    const index = byteLength(warning.slice(0, unprintableAt))
    problems.push(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`)
  }
  return problems
}
