// Errors of gRPC calls: which are transient, and which call for another etcd member.

export const grpcCodes = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const

export class GrpcError extends Error {
  override readonly name = 'GrpcError'
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const transientCodes: readonly number[] = [
  grpcCodes.cancelled,
  grpcCodes.unknown,
  grpcCodes.deadlineExceeded,
  grpcCodes.aborted,
  grpcCodes.internal,
  grpcCodes.unavailable,
  grpcCodes.unauthenticated,
]

/** True if the same call may succeed later, perhaps at another member. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof GrpcError)) return false
  return transientCodes.includes(error.code) || /too many requests|auth store is old/.test(error.message)
}

/** True if the request exceeds etcd's limits. */
export const isTooLarge = (error: GrpcError): boolean => /too large|larger than max/.test(error.message)

/** True if another member is more likely to succeed. Not for timeouts: the channel detects dead connections by pings. */
export function shouldChangeMember(error: unknown): boolean {
  if (!(error instanceof GrpcError) || error.code === grpcCodes.deadlineExceeded) return false
  return isTransient(error) && !error.message.includes('leader changed')
}
