CREATE TABLE "postrider"."audit_log" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"actor" text NOT NULL,
	"actor_kind" text NOT NULL,
	"action" text NOT NULL,
	"summary" text NOT NULL,
	"target" text,
	"status" smallint,
	"problem" text,
	"detail" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"request_id" text NOT NULL,
	CONSTRAINT "audit_log_actor_kind" CHECK (actor_kind in ('user', 'key', 'visitor')),
	CONSTRAINT "audit_log_problem" CHECK (problem is null or status is not null)
);

CREATE TABLE "postrider"."dashboard_links" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone
);

CREATE TABLE "postrider"."dashboard_sessions" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"user_id" uuid,
	"password_mark" text,
	"role" text NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"user_agent" text,
	CONSTRAINT "dashboard_sessions_role" CHECK (role in ('viewer', 'operator')),
	CONSTRAINT "dashboard_sessions_whose" CHECK ((user_id is null) = (password_mark is not null))
);

CREATE TABLE "postrider"."dashboard_users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"password_hash" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"disabled_at" timestamp with time zone,
	CONSTRAINT "dashboard_users_name" UNIQUE("name"),
	CONSTRAINT "dashboard_users_name_form" CHECK (name ~ '^[a-z0-9][a-z0-9._@+-]{0,63}$'),
	CONSTRAINT "dashboard_users_role" CHECK (role in ('viewer', 'operator')),
	CONSTRAINT "dashboard_users_disabled" CHECK (disabled_at is null or password_hash is null)
);

ALTER TABLE "postrider"."dashboard_links" ADD CONSTRAINT "dashboard_links_user_id_dashboard_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "postrider"."dashboard_users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."dashboard_sessions" ADD CONSTRAINT "dashboard_sessions_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "postrider"."workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "postrider"."dashboard_sessions" ADD CONSTRAINT "dashboard_sessions_user_id_dashboard_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "postrider"."dashboard_users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."dashboard_users" ADD CONSTRAINT "dashboard_users_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "postrider"."workspaces"("id") ON DELETE no action ON UPDATE no action;
CREATE INDEX "audit_log_newest" ON "postrider"."audit_log" USING btree ("workspace_id","id");
CREATE INDEX "audit_log_target" ON "postrider"."audit_log" USING btree ("workspace_id","target","id") WHERE target is not null;
CREATE INDEX "dashboard_links_user" ON "postrider"."dashboard_links" USING btree ("user_id");
CREATE INDEX "dashboard_sessions_user" ON "postrider"."dashboard_sessions" USING btree ("user_id");