// Reviews of oneself: as whom does the server know the one who asks? Whatever is sent, the answer is about the sender.

import { defineReview } from '../../api/define-special.js'
import type { RuleContext } from '../../api/definition.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import type { Infer } from '../../schema/infer.js'
import * as s from '../../schema/node.js'
import { timeOf } from '../../schema/scalars.js'
import { userInfo } from './v1.schema.js'
import { selfSubjectReviewStatus, selfSubjectReview as transcribed } from './v1alpha1.schema.js'

/** The user under the name that the specification gives it, besides the one that clients know. */
const reviewedUser = { ...userInfo, fields: { ...userInfo.fields, name: s.jsonField(s.string) } }
const status = { ...selfSubjectReviewStatus, fields: { userInfo: { ...selfSubjectReviewStatus.fields.userInfo, node: reviewedUser } } }
const schema = {
  ...transcribed,
  fields: { ...transcribed.fields, status: { ...transcribed.fields.status, node: status } },
}
type SelfSubjectReview = Infer<typeof schema>

/** The answer to whatever was asked. */
export const reviewSelf = ({ user, now }: Pick<RuleContext, 'user' | 'now'>): SelfSubjectReview => ({
  metadata: { creationTimestamp: timeOf(now) },
  status: { userInfo: { username: user.name, name: user.name, uid: user.uid, groups: user.groups, extra: user.extra } },
})

export const selfSubjectReview = defineReview('SelfSubjectReview')<SelfSubjectReview>({
  group: { stem: 'authentication' },
  resource: 'selfsubjectreviews',
  namespaced: false,
  gate: 'APISelfSubjectReview',
  versions: [{ name: 'v1alpha1', schema, stored: true }],
  nameProblems: pathSegmentProblems,
})
