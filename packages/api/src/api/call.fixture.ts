// What tests hand in where a call is needed: somebody who waits for ever, on whatever the test names.

import { Call, type Caller, type CallTarget } from './call.js'
import { testContext } from './rule-context.fixture.js'

export const testCaller = (more: Partial<Caller> = {}): Caller => {
  const { user, now } = testContext()
  const ignore = (): void => undefined
  return {
    info: undefined,
    user,
    userAgent: 'test',
    now,
    signal: undefined,
    throwIfAborted: ignore,
    warn: ignore,
    annotate: ignore,
    ...more,
  }
}

export const testCall = (target: Partial<CallTarget> & Pick<CallTarget, 'resource'>, caller: Partial<Caller> = {}): Call =>
  new Call({ ...testContext(), forbidsPrivileged: false }, testCaller(caller), {
    subresource: undefined,
    namespace: '',
    name: '',
    options: {},
    ...target,
  })
