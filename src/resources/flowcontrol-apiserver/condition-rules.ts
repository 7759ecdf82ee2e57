// The rules of the conditions that both kinds of this API carry in their status.

import { duplicate, type FieldError, required } from '../../api/field-error.js'
import { checkEach } from '../../api/validation/collect.js'
import type { FlowSchemaCondition } from './v1beta2.schema.js'

/** One condition of each type, and each of some type. */
export function validateFlowConditions(conditions: readonly FlowSchemaCondition[] | undefined): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(conditions, 'status.conditions', ({ type = '' }, field) => {
    const errors: FieldError[] = seen.has(type) ? [duplicate(`${field}.type`, type)] : []
    seen.add(type)
    return type === '' ? [...errors, required(`${field}.type`, 'must not be empty')] : errors
  })
}
