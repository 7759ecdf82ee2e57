// How much is told of a request, and at which moments.

export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type AuditLevel = (typeof auditLevels)[number]

export const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type AuditStage = (typeof auditStages)[number]

const ranks: { readonly [Level in AuditLevel]: number } = { None: 0, Metadata: 1, Request: 2, RequestResponse: 3 }

/** Whether a level tells at least as much as another. */
export const reaches = (level: AuditLevel, other: AuditLevel): boolean => ranks[level] >= ranks[other]
