// Binding: a scheduler assigns a pod to a node. Not stored; the pod gets the node name.

import { defineAction } from '../../../api/definition/define-virtual.js'
import { defineResource } from '../../../api/definition/resource-definition.js'
import { type FieldError, notSupported } from '../../../api/field-error.js'
import { checkPresent, dnsSubdomainProblems, joined, noErrors } from '../../../api/validation/checks.js'
import { type Binding, binding as schema } from '../v1.schema.js'

const targetKinds = ['Node', '<empty>']

export function validateBinding({ target: { kind = '', name } = {} }: Binding): readonly FieldError[] {
  return joined(
    kind === '' || kind === 'Node' ? noErrors : [notSupported('target.kind', kind, targetKinds)],
    checkPresent(name, 'target.name'),
  )
}

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
