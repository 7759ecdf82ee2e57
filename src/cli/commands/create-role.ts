// Creates a role of a namespace.

import { defineCommand } from '../command.js'
import { createOne, nameIn } from '../create-one.js'
import { UsageError } from '../flags.js'
import { ruleFlags, rulesOf } from '../role-rules.js'

export const command = defineCommand({
  usage: 'create role NAME --verb=VERB --resource=RESOURCE[.GROUP][/SUBRESOURCE] [--resource-name=NAME]',
  about: 'create a role',
  examples: ['create role readers --verb=get,list,watch --resource=pods,deployments.apps'],
  flags: ruleFlags,
  run: async (work) => {
    const name = nameIn(work.args)
    const rules = await rulesOf(work)
    if (rules.length === 0) throw new UsageError('at least one resource must be specified')
    const group = (await work.session.resources.identity()).group({ stem: 'rbac.authorization' })
    return createOne({ apiVersion: `${group}/v1`, kind: 'Role', metadata: { name }, rules }, work)
  },
})
