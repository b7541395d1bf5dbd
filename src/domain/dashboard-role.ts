import { type Scope, SCOPES } from './scopes.js'

/** What somebody at the dashboard may do: look, or look and act. */
export const DASHBOARD_ROLES = ['viewer', 'operator'] as const
export type DashboardRole = (typeof DASHBOARD_ROLES)[number]

const SCOPES_OF: Readonly<Record<DashboardRole, readonly Scope[]>> = { viewer: ['read'], operator: SCOPES }

export const scopesOfRole = (role: DashboardRole): readonly Scope[] => SCOPES_OF[role]
