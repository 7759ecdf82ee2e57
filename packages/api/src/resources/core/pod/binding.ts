// Bindings of pods to nodes: a scheduler says where a pod shall run. The pod keeps that; the binding itself is not kept.

import { defineAction } from '../../api/define-special.js'
import { defineResource } from '../../api/definition.js'
import { type FieldError, notSupported } from '../../api/field-error.js'
import { checkPresent, joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { type Binding, binding as schema } from './v1.schema.js'

const targetKinds = ['Node', '<empty>']

/** Also for the subresource `binding` of pods, which takes the same body. */
export function validateBinding({ target: { kind = '', name } = {} }: Binding): readonly FieldError[] {
  return joined(
    kind === '' || kind === 'Node' ? noErrors : [notSupported('target.kind', kind, targetKinds)],
    checkPresent(name, 'target.name'),
  )
}

/** Of pods, which it names by its path. */
export const bindingSubresource = defineAction({ name: 'binding', action: 'bind', body: { kind: 'Binding', schema } })

export const binding = defineResource<Binding>({
  group: '',
  kind: 'Binding',
  resource: 'bindings',
  namespaced: true,
  verbs: ['create'],
  postsTo: { resource: 'pods', subresource: 'binding' },
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  validate: validateBinding,
})
