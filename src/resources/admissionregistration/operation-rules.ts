// Which requests a webhook or a policy wants to see: operations on groups, versions and resources, each list with its own wildcard.

import { type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { checkEach, checkOptionalChoice, checkPresent, joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { withMissing } from '../core/pod-spec/missing-members.js'
import type { RuleWithOperations } from './v1.schema.js'

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const scopes = ['*', 'Cluster', 'Namespaced']

/** A rule that does not say so looks at objects in namespaces and outside. */
export const withScope = <T extends RuleWithOperations>(rule: T): T => withMissing<RuleWithOperations>(rule, { scope: '*' }) as T

export const validateOperationRule = (rule: RuleWithOperations, field: string): readonly FieldError[] =>
  joined(
    validateOperations(rule.operations ?? [], `${field}.operations`),
    checkWildcardList(rule.apiGroups ?? [], `${field}.apiGroups`, 'API groups'),
    checkWildcardList(rule.apiVersions ?? [], `${field}.apiVersions`, 'API versions'),
    checkEach(rule.apiVersions, `${field}.apiVersions`, checkPresent),
    validateRuleResources(rule.resources ?? [], `${field}.resources`),
    checkOptionalChoice(rule.scope, `${field}.scope`, scopes),
  )

/** A list that is not empty, and in which a wildcard stands alone. */
function checkWildcardList(list: readonly string[], field: string, what: string): readonly FieldError[] {
  if (list.length === 0) return [required(field)]
  return list.length > 1 && list.includes('*') ? [invalid(field, list, `if '*' is present, must not specify other ${what}`)] : noErrors
}

const validateOperations = (list: readonly string[], field: string): readonly FieldError[] =>
  joined(
    checkWildcardList(list, field, 'operations'),
    checkEach(list, field, (operation, at) => (operations.includes(operation) ? noErrors : [notSupported(at, operation, operations)])),
  )

function validateRuleResources(resources: readonly string[], field: string): readonly FieldError[] {
  if (resources.length === 0) return [required(field)]
  const errors = [...validateEachResource(resources, field)]
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalid(field, resources, "if '*/*' is present, must not specify other resources"))
  }
  // Only the last resource without a subresource counts, as clients have come to rely on.
  const lastPlain = resources.findLast((resource) => resource !== '' && !resource.includes('/'))
  if (resources.includes('*') && lastPlain !== '*') {
    errors.push(invalid(field, resources, "if '*' is present, must not specify other resources without subresources"))
  }
  return errors
}

/** What an earlier wildcard covers already must not be named again. */
function validateEachResource(resources: readonly string[], field: string): readonly FieldError[] {
  const wholeResources = new Set<string>()
  const wholeSubresources = new Set<string>()
  return checkEach(resources, field, (text, at) => {
    if (text === '') return [required(at)]
    const slash = text.indexOf('/')
    if (slash < 0) return noErrors
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)]
    const covered = (pattern: string): FieldError => invalid(at, text, `if '${pattern}' is present, must not specify ${text}`)
    const errors: FieldError[] = []
    if (wholeResources.has(resource)) errors.push(covered(`${resource}/*`))
    if (wholeSubresources.has(subresource)) errors.push(covered(`*/${subresource}`))
    if (subresource === '*') wholeResources.add(resource)
    if (resource === '*') wholeSubresources.add(subresource)
    return errors
  })
}
