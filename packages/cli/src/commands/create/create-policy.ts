// `create namespace`, `quota`, `poddisruptionbudget`, `priorityclass`.

import { compileLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { defineCommand } from '../../command-line/command.js'
import { UsageError } from '../../command-line/flags.js'
import { createAndPrint, createFlags, nameArgument, numberOrText, parsePairs } from '../../objects/create-object.js'

export const createNamespace = defineCommand({
  usage: 'create namespace NAME',
  flags: createFlags,
  run: async (context) => {
    const name = nameArgument(context.args)
    return createAndPrint({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, context)
  },
})

export const createQuota = defineCommand({
  usage: 'create quota NAME [--hard=RESOURCE=AMOUNT,…] [--scopes=SCOPE,…]',
  examples: ['create quota few --hard=pods=10,requests.cpu=4', 'create quota best-effort --hard=pods=100 --scopes=BestEffort'],
  flags: {
    ...createFlags,
    hard: { kind: 'list', help: 'hard limits: RESOURCE=QUANTITY' },
    scopes: { kind: 'list', help: 'quota scopes' },
  },
  run: async (context) => {
    const { flags, args } = context
    const spec = {
      ...(flags.hard.length === 0 ? {} : { hard: parsePairs('hard', flags.hard) }),
      ...(flags.scopes.length === 0 ? {} : { scopes: flags.scopes }),
    }
    return createAndPrint({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: nameArgument(args) }, spec }, context)
  },
})

export const createDisruptionBudget = defineCommand({
  usage: 'create poddisruptionbudget NAME --selector=LABELS (--min-available=N | --max-unavailable=N)',
  examples: ['create pdb web --selector=app=web --min-available=50%'],
  flags: {
    ...createFlags,
    selector: { kind: 'text', help: 'labels of the pods: a=b,c=d' },
    'min-available': { kind: 'text', help: 'minimum of available pods: number or percentage' },
    'max-unavailable': { kind: 'text', help: 'maximum of unavailable pods: number or percentage' },
  },
  run: async (context) => {
    const { flags, args } = context
    const name = nameArgument(args)
    const { selector, 'min-available': minAvailable, 'max-unavailable': maxUnavailable } = flags
    if (selector === undefined || selector === '') throw new UsageError('a selector must be specified')
    if (minAvailable === undefined && maxUnavailable === undefined)
      throw new UsageError('one of min-available or max-unavailable must be specified')
    if (minAvailable !== undefined && maxUnavailable !== undefined)
      throw new UsageError('min-available and max-unavailable cannot be both specified')
    const amount =
      minAvailable === undefined ? { maxUnavailable: numberOrText(maxUnavailable ?? '') } : { minAvailable: numberOrText(minAvailable) }
    compileLabelSelector(selector)
    const spec = { ...amount, selector: { matchLabels: parsePairs('selector', selector.replaceAll('==', '=').split(',')) } }
    return createAndPrint({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec }, context)
  },
})

export const createPriorityClass = defineCommand({
  usage: 'create priorityclass NAME --value=NUMBER [--description=TEXT] [--global-default] [--preemption-policy=Never]',
  examples: ['create priorityclass high --value=1000 --description="before all others"'],
  flags: {
    ...createFlags,
    value: { kind: 'number', initial: '0', help: 'priority; higher is scheduled first' },
    description: { kind: 'text', help: 'description of the class' },
    'global-default': { kind: 'switch', help: 'use for pods without priorityClassName' },
    'preemption-policy': { kind: 'text', initial: 'PreemptLowerPriority', help: 'PreemptLowerPriority or Never' },
  },
  run: async (context) => {
    const { flags, args, session } = context
    const group = (await session.resources.identity()).group({ stem: 'scheduling' })
    return createAndPrint(
      {
        apiVersion: `${group}/v1`,
        kind: 'PriorityClass',
        metadata: { name: nameArgument(args) },
        ...(flags.description === undefined ? {} : { description: flags.description }),
        ...(flags['global-default'] ? { globalDefault: true } : {}),
        preemptionPolicy: flags['preemption-policy'],
        value: flags.value ?? 0,
      },
      context,
    )
  },
})
