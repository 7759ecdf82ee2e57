// Whose requests go on when others have to wait.

import { mastersGroup } from '../api/user.js'
import type { Exchange } from './exchange.js'

/** Whoever asks whether the server lives is answered also when there is no room: a busy server must not be taken for a dead one. */
export const isProbe = ({ info }: Exchange): boolean => !info.isResource && /^\/(?:livez|readyz|healthz)(?:\/|$)/.test(info.path)

/** Administrators are not limited in number: they have to be able to mend what keeps the server busy. */
export const isExempt = ({ user }: Exchange): boolean => user.groups.includes(mastersGroup)
