// What the rules of a pod spec depend on besides the spec itself.

import type { RuleContext } from '../../../api/definition.js'

export interface PodRules extends Pick<RuleContext, 'identity' | 'gates' | 'forbidsPrivileged'> {
  /** Templates have none: their pods are named later. */
  readonly podName?: string
}
