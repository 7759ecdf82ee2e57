// The file of --audit-policy-file: read, and checked as the reference does.

import { ApiError } from '../api/api-error.js'
import { type FieldError, invalid, notSupported, required } from '../api/field-error.js'
import type { Identity } from '../api/identity.js'
import { dnsSubdomain } from '../api/validation/text-rules.js'
import { decodeBody } from '../codec/decode-body.js'
import { readYaml } from '../codec/yaml/read-yaml.js'
import { type GroupResources, type Policy, type PolicyRule, policy as policySchema } from '../resources/audit/v1.schema.js'
import { auditLevels, auditStages } from './level.js'

export interface ReadPolicy {
  readonly policy: Policy
  /** What stands in the file and means nothing. */
  readonly warnings: readonly string[]
}

/** Throws one sentence in the words of the reference. */
export function readPolicy(text: string, { identity, path }: { readonly identity: Identity; readonly path: string }): ReadPolicy {
  const fail = (problem: string): never => {
    throw new Error(`loading audit policy file: ${problem}: from file ${path}`)
  }
  const { policy, warnings } = decode(text, identity, fail)
  const rules = policy.rules ?? []
  if (rules.length === 0) fail('loaded illegal policy with 0 rules')
  const errors = [...checkStages(policy.omitStages, 'omitStages'), ...rules.flatMap((rule, i) => checkRule(rule, `rules[${i}]`))]
  const sentences = errors.map(({ field, message }) => `${field}: ${message}`)
  if (sentences.length > 0) fail(sentences.length === 1 ? (sentences[0] as string) : `[${sentences.join(', ')}]`)
  return { policy, warnings }
}

function decode(text: string, identity: Identity, fail: (problem: string) => never): ReadPolicy {
  const expected = { kind: 'Policy', apiVersion: `${identity.group({ stem: 'audit' })}/v1`, schema: policySchema }
  try {
    const { kind, apiVersion } = (readYaml(text).value ?? {}) as { readonly kind?: unknown; readonly apiVersion?: unknown }
    if (kind !== expected.kind || apiVersion !== expected.apiVersion)
      return fail(`failed decoding: no kind ${JSON.stringify(kind ?? '')} is registered for version ${JSON.stringify(apiVersion ?? '')}`)
    const { object, problems } = decodeBody('yaml', Buffer.from(text), expected)
    return { policy: object as unknown as Policy, warnings: problems }
  } catch (thrown) {
    if (thrown instanceof ApiError) return fail(`failed decoding: ${thrown.message}`)
    throw thrown
  }
}

function checkRule(rule: PolicyRule, field: string): readonly FieldError[] {
  return [
    ...checkLevel(rule.level ?? '', `${field}.level`),
    ...checkPaths(rule, `${field}.nonResourceURLs`),
    ...(rule.resources ?? []).flatMap((group, i) => checkGroup(group, `${field}.resources[${i}]`)),
    ...checkStages(rule.omitStages, `${field}.omitStages`),
  ]
}

function checkLevel(level: string, field: string): readonly FieldError[] {
  if (level === '') return [required(field)]
  return (auditLevels as readonly string[]).includes(level) ? [] : [notSupported(field, level, auditLevels)]
}

function checkPaths({ nonResourceURLs: urls = [], resources = [], namespaces = [] }: PolicyRule, field: string): readonly FieldError[] {
  if (urls.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    return [invalidTexts(field, urls, 'rules cannot apply to both regular resources and non-resource URLs')]
  }
  return urls.flatMap((url, i) => {
    if (url === '*') return []
    const problems: FieldError[] = []
    if (!url.startsWith('/')) problems.push(invalid(`${field}[${i}]`, url, "non-resource URL rules must begin with a '/' character"))
    if (url.slice(0, -1).includes('*'))
      problems.push(invalid(`${field}[${i}]`, url, "non-resource URL wildcards '*' must be the final character of the rule"))
    return problems
  })
}

function checkGroup({ group = '', resources = [], resourceNames = [] }: GroupResources, field: string): readonly FieldError[] {
  const problems = group === '' ? [] : dnsSubdomain(group)
  return [
    ...(problems.length === 0 ? [] : [invalid(`${field}.group`, group, problems.join(','))]),
    ...(resourceNames.length > 0 && resources.length === 0
      ? [invalidTexts(`${field}.resourceNames`, resourceNames, 'using resourceNames requires at least one resource')]
      : []),
  ]
}

const checkStages = (stages: readonly string[] = [], field: string): readonly FieldError[] =>
  stages.flatMap((stage, i) =>
    (auditStages as readonly string[]).includes(stage)
      ? []
      : [invalid(`${field}[${i}]`, stage, `allowed stages are ${auditStages.join(',')}`)],
  )

/** Several texts in the form in which the reference shows them. */
const invalidTexts = (field: string, texts: readonly string[], why: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: []string{${texts.map((text) => JSON.stringify(text)).join(', ')}}: ${why}`,
})
