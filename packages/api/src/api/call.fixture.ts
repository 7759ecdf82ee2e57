// Fixture: a Call on a given resource. By default it never aborts and ignores warnings and audit annotations.

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
