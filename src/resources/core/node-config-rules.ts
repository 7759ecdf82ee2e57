// The rules of node configuration through the API, which is gone but may still stand in old nodes.

import { type FieldError, forbidden, invalid, required } from '../../api/field-error.js'
import { checkPart, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { configKey, dnsLabel, dnsSubdomain, type TextRule } from '../../api/validation/text-rules.js'
import type { ConfigMapNodeConfigSource, NodeConfigSource, NodeConfigStatus } from './v1.schema.js'

/** Wanted configuration names a config map; which state of it is used is reported. */
export const validateConfigSource = (source: NodeConfigSource, field: string): readonly FieldError[] =>
  validateOne(source, field, (map, at) =>
    joined(
      (map.uid ?? '') === '' ? noErrors : [forbidden(`${at}.uid`, 'uid must not be set in spec')],
      (map.resourceVersion ?? '') === '' ? noErrors : [forbidden(`${at}.resourceVersion`, 'resourceVersion must not be set in spec')],
      validateReference(map, at),
    ),
  )

export const validateConfigStatus = ({ assigned, active, lastKnownGood }: NodeConfigStatus, field: string): readonly FieldError[] =>
  joined(
    checkPart(assigned, `${field}.assigned`, validateReported),
    checkPart(active, `${field}.active`, validateReported),
    checkPart(lastKnownGood, `${field}.lastKnownGood`, validateReported),
  )

const validateReported = (source: NodeConfigSource, field: string): readonly FieldError[] =>
  validateOne(source, field, (map, at) =>
    joined(
      (map.uid ?? '') === '' ? [required(`${at}.uid`, 'uid must be set in status')] : noErrors,
      (map.resourceVersion ?? '') === '' ? [required(`${at}.resourceVersion`, 'resourceVersion must be set in status')] : noErrors,
      validateReference(map, at),
    ),
  )

type MapRule = (map: ConfigMapNodeConfigSource, field: string) => readonly FieldError[]

const validateOne = (source: NodeConfigSource, field: string, rule: MapRule): readonly FieldError[] =>
  source.configMap === undefined
    ? [invalid(field, source, 'exactly one reference subfield must be non-nil')]
    : rule(source.configMap, `${field}.configMap`)

function validateReference(map: ConfigMapNodeConfigSource, field: string): readonly FieldError[] {
  const check = (name: 'namespace' | 'name' | 'kubeletConfigKey', rule: TextRule): readonly FieldError[] => {
    const value = map[name] ?? ''
    return value === '' ? [required(`${field}.${name}`, `${name} must be set`)] : checkText(value, `${field}.${name}`, rule)
  }
  return joined(check('namespace', dnsLabel), check('name', dnsSubdomain), check('kubeletConfigKey', configKey))
}
