CREATE SCHEMA IF NOT EXISTS "postrider";

CREATE TABLE "postrider"."lanes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"weight" integer NOT NULL,
	"priority" integer NOT NULL,
	"paused_at" timestamp with time zone,
	"canceled_at" timestamp with time zone,
	"swept_at" timestamp with time zone,
	CONSTRAINT "lanes_weight" CHECK (weight between 1 and 1000),
	CONSTRAINT "lanes_priority" CHECK (priority between 0 and 100),
	CONSTRAINT "lanes_swept" CHECK (swept_at is null or canceled_at is not null)
);

CREATE TABLE "postrider"."leases" (
	"token" uuid PRIMARY KEY NOT NULL,
	"worker" text NOT NULL,
	"leased_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"action_ids" uuid[] NOT NULL,
	CONSTRAINT "leases_not_empty" CHECK (cardinality(action_ids) > 0)
);

CREATE TABLE "postrider"."ready_actions" (
	"lane_id" uuid NOT NULL,
	"run_at" timestamp with time zone NOT NULL,
	"position" bigint GENERATED ALWAYS AS IDENTITY (sequence name "postrider"."ready_actions_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"action_ids" uuid[] NOT NULL,
	CONSTRAINT "ready_actions_lane_id_run_at_position_pk" PRIMARY KEY("lane_id","run_at","position"),
	CONSTRAINT "ready_actions_not_empty" CHECK (cardinality(action_ids) > 0)
);

CREATE TABLE "postrider"."scheduled_actions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"lane_id" uuid NOT NULL,
	"type" text NOT NULL,
	"dedupe_key" text NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"run_at" timestamp with time zone NOT NULL,
	"wake_at" timestamp with time zone,
	"expires_at" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"rescues" integer DEFAULT 0 NOT NULL,
	"payload" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"retry_policy" text,
	"enrollment_id" uuid,
	"node_id" text,
	"lease_token" uuid,
	"needs_attention" boolean DEFAULT false NOT NULL,
	"reason" text,
	"reason_code" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"state_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "scheduled_actions_state" CHECK (state in ('pending', 'leased', 'armed', 'done', 'failed', 'uncertain', 'canceled', 'skipped', 'expired', 'dismissed')),
	CONSTRAINT "scheduled_actions_waits_only_pending" CHECK (wake_at is null or state = 'pending'),
	CONSTRAINT "scheduled_actions_lease" CHECK ((state in ('leased', 'armed', 'uncertain')) = (lease_token is not null)),
	CONSTRAINT "scheduled_actions_attention" CHECK ((state in ('failed', 'uncertain')) = needs_attention),
	CONSTRAINT "scheduled_actions_attempts" CHECK (attempts >= 0 and rescues >= 0),
	CONSTRAINT "scheduled_actions_dedupe_key" CHECK (length(dedupe_key) between 1 and 512),
	CONSTRAINT "scheduled_actions_node" CHECK (node_id is null or enrollment_id is not null)
);

CREATE INDEX "lanes_unswept" ON "postrider"."lanes" USING btree ("canceled_at") WHERE canceled_at is not null and swept_at is null;
CREATE INDEX "leases_expires" ON "postrider"."leases" USING btree ("expires_at");
CREATE UNIQUE INDEX "scheduled_actions_dedupe" ON "postrider"."scheduled_actions" USING btree ("workspace_id","dedupe_key");
CREATE INDEX "scheduled_actions_waiting" ON "postrider"."scheduled_actions" USING btree ("wake_at") WHERE wake_at is not null;
CREATE INDEX "scheduled_actions_attention" ON "postrider"."scheduled_actions" USING btree ("workspace_id","id") WHERE needs_attention;
CREATE INDEX "scheduled_actions_lane" ON "postrider"."scheduled_actions" USING btree ("lane_id","id");
CREATE INDEX "scheduled_actions_enrollment" ON "postrider"."scheduled_actions" USING btree ("enrollment_id","node_id") WHERE enrollment_id is not null;