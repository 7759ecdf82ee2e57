// The rules of environment variables: each has a value or one source of it.

import { type FieldError, invalid, required } from '../../../api/field-error.js'
import { checkEach, checkPart, joined } from '../../../api/validation/collect.js'
import { checkText, noErrors } from '../../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../../api/validation/name-problems.js'
import { configKey, dnsSubdomain } from '../../../api/validation/text-rules.js'
import type { ConfigMapKeySelector, EnvFromSource, EnvVar } from '../v1.schema.js'
import { validateFieldRef, validateResourceFieldRef, variableFields } from './downward-fields.js'
import { variableName } from './names.js'
import type { PodRules } from './pod-rules.js'

export const validateEnv = (variables: readonly EnvVar[] | undefined, field: string, rules: PodRules): readonly FieldError[] =>
  checkEach(variables, field, (variable, at) => {
    const { name = '' } = variable
    return joined(
      name === '' ? [required(`${at}.name`)] : checkText(name, `${at}.name`, variableName),
      variable.valueFrom === undefined ? noErrors : validateValueFrom(variable, `${at}.valueFrom`, rules),
    )
  })

function validateValueFrom({ value = '', valueFrom = {} }: EnvVar, field: string, rules: PodRules): readonly FieldError[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom
  return joined(
    checkPart(fieldRef, `${field}.fieldRef`, (ref, at) => validateFieldRef(ref, at, variableFields)),
    checkPart(resourceFieldRef, `${field}.resourceFieldRef`, (ref, at) => validateResourceFieldRef(ref, at, { rules, isInVolume: false })),
    checkPart(configMapKeyRef, `${field}.configMapKeyRef`, validateKeyRef),
    checkPart(secretKeyRef, `${field}.secretKeyRef`, validateKeyRef),
    validateSourceCount(
      [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef].filter((source) => source !== undefined).length,
      value,
      field,
    ),
  )
}

function validateSourceCount(count: number, value: string, field: string): readonly FieldError[] {
  if (count === 0) return [invalid(field, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`')]
  if (value !== '') return [invalid(field, '', 'may not be specified when `value` is not empty')]
  return count > 1 ? [invalid(field, '', 'may not have more than one field specified at a time')] : noErrors
}

/** Config maps and secrets are asked for a key in the same way. */
const validateKeyRef = ({ name = '', key = '' }: ConfigMapKeySelector, field: string): readonly FieldError[] =>
  joined(
    checkText(name, `${field}.name`, dnsSubdomain),
    key === '' ? [required(`${field}.key`)] : checkText(key, `${field}.key`, configKey),
  )

/** All keys of a config map or secret as variables. The problem of having none or both is reported for the list, not the item. */
export const validateEnvFrom = (sources: readonly EnvFromSource[] | undefined, field: string): readonly FieldError[] =>
  checkEach(sources, field, ({ prefix = '', configMapRef, secretRef }, at) =>
    joined(
      prefix === '' ? noErrors : checkText(prefix, `${at}.prefix`, variableName),
      checkPart(configMapRef, `${at}.configMapRef`, validateSourceName),
      checkPart(secretRef, `${at}.secretRef`, validateSourceName),
      configMapRef === undefined && secretRef === undefined
        ? [invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`')]
        : noErrors,
      configMapRef !== undefined && secretRef !== undefined
        ? [invalid(field, '', 'may not have more than one field specified at a time')]
        : noErrors,
    ),
  )

const validateSourceName = ({ name = '' }: { readonly name?: string }, field: string): readonly FieldError[] =>
  name === '' ? [required(`${field}.name`)] : checkText(name, `${field}.name`, (text) => dnsSubdomainProblems(text, true))
